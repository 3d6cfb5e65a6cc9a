"""Bootstrap samples of histories with pseudo rewards, drawn exactly and as little as possible."""
