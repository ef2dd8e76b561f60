# Tell a dynamic DNS service the address of the uplink, only when it has changed.
# run-on: all
:global webPort
:global ddnsLast
:local current [/ip address get [find interface=ether1] address]
:set current [:pick $current 0 [:find $current "/"]]
:if ($current != $ddnsLast) do={
  :local answer ([/tool fetch url="http://ddns.example:$webPort/update?host=r1&ip=$current" output=user as-value]->"data")
  :if ($answer != "good $current") do={ :error "ddns refused: $answer" }
  :set ddnsLast $current
  :log info "ddns is now $current"
}
#! log ddns is now 203.0.113.2
#! check ([:len [/system script environment find name=ddnsLast]] = 1)
#! refuse :global webPort; /tool fetch url="http://nosuch.example:$webPort/" output=none -> failure: dns name does not exist
#! refuse /tool fetch output=none -> missing value(s) of argument(s) url
#! refuse /tool fetch url="http://192.0.2.1/" output=none -> failure: connection timeout
