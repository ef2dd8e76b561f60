# Pin the ARP entry of every bound lease.
# run-on: all
:foreach lease in=[/ip dhcp-server lease find where status=bound] do={
  :local addr [/ip dhcp-server lease get $lease active-address]
  :local mac [/ip dhcp-server lease get $lease active-mac-address]
  :foreach old in=[/ip arp find where address=$addr dynamic=yes] do={ /ip arp remove $old }
  /ip arp add address=$addr mac-address=$mac interface=bridge comment="pinned"
}
#! check ([:len [/ip arp find comment="pinned"]] = 3)
#! check ([/ip arp get [find address=192.168.88.11] mac-address] = "00:0C:29:5A:13:E1")
#! refuse /ip arp add address=192.168.88.20 mac-address=00:11:22:33:44 interface=bridge -> invalid value for argument mac-address
#! refuse /ip arp add address=192.168.88.20 interface=bridge9 -> input does not match any value of interface
