# Make every dynamic lease static and name it after its host.
# run-on: all
:foreach lease in=[/ip dhcp-server lease find where dynamic=yes] do={
  /ip dhcp-server lease make-static $lease
}
:foreach lease in=[/ip dhcp-server lease find] do={
  :local host [/ip dhcp-server lease get $lease host-name]
  /ip dhcp-server lease set $lease comment=$host
}
#! check ([:len [/ip dhcp-server lease find where dynamic=yes]] = 0)
#! check ([/ip dhcp-server lease get [find comment="printer"] address] = 192.168.88.11)
#! refuse /ip dhcp-server lease make-static [find comment="printer"] -> failure: already static
#! refuse /ip dhcp-server lease add address=192.168.88.300 mac-address=00:11:22:33:44:55 -> invalid value for argument address
