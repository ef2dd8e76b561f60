# Ping several hosts and collect who answers.
# run-on: all
:local alive ""
:foreach host in={192.168.88.10;192.168.88.77;192.168.88.12} do={
  :if ([/ping $host count=2 interval=200ms] > 0) do={ :set alive ($alive . " $host") }
}
:put "alive:$alive"
#! output alive: 192.168.88.10 192.168.88.12
#! refuse :put [/ping nosuch.example count=1] -> invalid value for argument address
