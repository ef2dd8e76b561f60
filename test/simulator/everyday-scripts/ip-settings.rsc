# Reverse path filtering and SYN cookies.
# run-on: all
/ip settings set rp-filter=strict tcp-syncookies=yes
#! check ([/ip settings get rp-filter] = "strict")
#! refuse /ip settings set rp-filter=maybe -> input does not match any value of rp-filter
#! refuse /ip settings set max-neighbor-entries=1 -> value of max-neighbor-entries out of range (16..4294967295)
