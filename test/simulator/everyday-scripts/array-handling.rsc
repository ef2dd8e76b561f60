# Count devices by the first three bytes of their MAC address.
# run-on: all
:global vendors ({})
:foreach entry in=[/ip arp print as-value where interface=bridge] do={
  :local vendor [:pick ($entry->"mac-address") 0 8]
  :local count ($vendors->$vendor)
  :if ([:typeof $count] = "nothing") do={ :set count 0 }
  :set ($vendors->$vendor) ($count + 1)
}
:put [:len $vendors]
#! output 3
#! check ([:len [/system script environment find name=vendors]] = 1)
#! refuse :put [:pick -> expected closing bracket
#! refuse :foreach x do={:put $x} in -> expected end of command
