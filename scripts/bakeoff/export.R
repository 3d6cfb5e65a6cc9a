# Writes data sets that R packages carry as CSV files: Rscript export.R FOLDER NAME...
# A last line per set says "name, package, version, licence" for the list of sources.

data_of <- function(package, name) {
  place <- new.env()
  data(list = name, package = package, envir = place)
  as.data.frame(get(name, envir = place))
}

without <- function(frame, ...) frame[, !(names(frame) %in% c(...)), drop = FALSE]

# Levels of a factor by their place: of ordered ones nothing is lost.
coded <- function(frame, columns) {
  frame[columns] <- lapply(frame[columns], function(column) as.integer(factor(column)))
  frame
}

made <- function(kind, rows, ...) {
  set.seed(1)
  result <- getExportedValue("mlbench", paste0("mlbench.", kind))(rows, ...)
  data.frame(result$x, class = if (is.null(result$y)) result$classes else result$y)
}

caravan <- function() {
  frame <- data_of("kernlab", "ticdata")
  factors <- names(frame)[sapply(frame, is.factor)]
  coded(frame, setdiff(factors, c("STYPE", "MOSHOOFD", "CARAVAN")))
}

income <- function() coded(data_of("kernlab", "income"), "INCOME")

ridership <- function() {
  frame <- data_of("modeldata", "Chicago")
  frame$weekday <- paste0("day", as.POSIXlt(frame$date)$wday)
  without(frame, "date")
}

storms <- function() {
  frame <- data_of("dplyr", "storms")
  frame[c("year", "month", "day", "hour", "lat", "long", "pressure", "status")]
}

texas_housing <- function() {
  frame <- data_of("ggplot2", "txhousing")
  without(frame[!is.na(frame$median), ], "volume", "date")
}

lending_grade <- function() {
  frame <- data_of("modeldata", "lending_club")
  frame$grade <- as.integer(factor(substr(as.character(frame$sub_grade), 1, 1)))
  without(frame, "sub_grade", "int_rate", "Class", "addr_state")
}

sets <- list(
  letter = list("mlbench", function() data_of("mlbench", "LetterRecognition")),
  satellite = list("mlbench", function() data_of("mlbench", "Satellite")),
  dna = list("mlbench", function() data_of("mlbench", "DNA")),
  vowel = list("mlbench", function() data_of("mlbench", "Vowel")),
  vehicle = list("mlbench", function() data_of("mlbench", "Vehicle")),
  soybean = list("mlbench", function() data_of("mlbench", "Soybean")),
  pima = list("mlbench", function() data_of("mlbench", "PimaIndiansDiabetes")),
  waveform = list("mlbench", function() made("waveform", 10000)),
  threenorm = list("mlbench", function() made("threenorm", 10000)),
  friedman = list("mlbench", function() made("friedman1", 10000)),
  spam = list("kernlab", function() data_of("kernlab", "spam")),
  caravan = list("kernlab", caravan),
  income = list("kernlab", income),
  `diamonds-cut` = list("ggplot2", function() data_of("ggplot2", "diamonds")),
  `diamonds-clarity` = list("ggplot2", function() data_of("ggplot2", "diamonds")),
  `diamonds-price` = list("ggplot2", function() data_of("ggplot2", "diamonds")),
  `texas-housing` = list("ggplot2", texas_housing),
  storms = list("dplyr", storms),
  cells = list("modeldata", function() without(data_of("modeldata", "cells"), "case")),
  credit = list("modeldata", function() data_of("modeldata", "credit_data")),
  `grid-jobs` = list("modeldata", function() data_of("modeldata", "hpc_data")),
  lending = list("modeldata", function() data_of("modeldata", "lending_club")),
  `lending-grade` = list("modeldata", lending_grade),
  `phone-churn` = list("modeldata", function() data_of("modeldata", "mlc_churn")),
  `remote-work` = list("modeldata", function() data_of("modeldata", "stackoverflow")),
  `internet-churn` = list("modeldata", function() data_of("modeldata", "wa_churn")),
  ames = list("modeldata", function() data_of("modeldata", "ames")),
  `check-times` = list("modeldata", function() without(data_of("modeldata", "check_times"), "package", "status")),
  ridership = list("modeldata", ridership),
  `light-chains` = list("survival", function() without(survival::flchain, "futime", "chapter")),
  rotterdam = list("survival", function() without(survival::rotterdam, "pid", "rtime", "dtime", "death"))
)

arguments <- commandArgs(trailingOnly = TRUE)
for (name in arguments[-1]) {
  package <- sets[[name]][[1]]
  frame <- tryCatch(sets[[name]][[2]](), error = function(e) {
    message(name, ": ", conditionMessage(e))
    NULL
  })
  if (is.null(frame)) next
  write.csv(frame, file.path(arguments[1], paste0(name, ".csv")), row.names = FALSE, na = "")
  about <- packageDescription(package)
  cat(name, paste("R package", package), about$Version, about$License, sep = "\t")
  cat("\n")
}
