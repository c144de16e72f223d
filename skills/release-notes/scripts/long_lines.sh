#!/bin/sh
# Prints the lines of standard input that are longer than 100 characters, with their numbers.
awk 'length > 100 { print NR ": " $0 }'
