# Keep the text of the error.
# run-on: v7
:onerror problem in={ /ip address add address=bogus interface=bridge } do={ :log error "it said: $problem" }
#! log it said: invalid value for argument address
#! refuse :onerror in={:put 1} do={:put 2} -> /syntax error|expected end of command/
