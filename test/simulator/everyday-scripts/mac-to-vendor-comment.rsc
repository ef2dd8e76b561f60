# Write the vendor's prefix into the lease.
# run-on: all
:local vendors {"30:07:4D"="Samsung";"DC:A6:32"="Raspberry"}
:foreach lease in=[/ip dhcp-server lease find] do={
  :if ([/ip dhcp-server lease get $lease dynamic]) do={ /ip dhcp-server lease make-static $lease }
}
:foreach lease in=[/ip dhcp-server lease find] do={
  :local vendor ($vendors->[:pick [/ip dhcp-server lease get $lease mac-address] 0 8])
  :if ([:typeof $vendor] = "str") do={ /ip dhcp-server lease set $lease comment=$vendor }
}
#! check ([/ip dhcp-server lease get [find address=192.168.88.12] comment] = "Raspberry")
#! check ([:len [/ip dhcp-server lease find comment="Samsung"]] = 1)
#! refuse /ip dhcp-server lease set nosuch comment=x -> no such item
