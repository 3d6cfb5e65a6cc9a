"""A network with one hidden layer, trained by stochastic gradient descent."""
