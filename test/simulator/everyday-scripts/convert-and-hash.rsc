# Base64 and hexadecimal.
# run-on: v7
:put [:convert "user:secret" to=base64]
:put [:convert [:convert "abc" to=hex] from=hex]
#! output dXNlcjpzZWNyZXQ=
#! output abc
#! refuse :put [:convert "abc" to=klingon] -> input does not match any value of to
