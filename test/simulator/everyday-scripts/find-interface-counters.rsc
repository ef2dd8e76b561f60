# Report the counters of interfaces that moved more than a thousand packets.
# run-on: all
:foreach line in=[/interface print as-value where type=ether] do={
  :if (($line->"rx-packet") > 1000) do={ :put (($line->"name") . " rx " . ($line->"rx-byte")) }
}
#! output ether5 rx 222253
#! check ([:typeof [/interface get ether1 rx-byte]] = "num")
#! refuse /interface print where nosuch -> /^$|/
#! refuse /interface monitor-traffic ether9 once -> input does not match any value of interface
