# Switch the router's own dynamic name on.
# run-on: all
/ip cloud set ddns-enabled=yes update-time=yes
#! check ([/ip cloud get update-time] = true)
#! refuse /ip cloud set ddns-enabled=perhaps -> /invalid value for argument ddns-enabled|input does not match any value of ddns-enabled/
