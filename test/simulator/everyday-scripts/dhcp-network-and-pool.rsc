# A second LAN with pool, server and network.
# run-on: all
/interface vlan add name=guest interface=bridge vlan-id=30
/ip address add address=192.168.30.1/24 interface=guest
/ip pool add name=guest ranges=192.168.30.10-192.168.30.99
/ip dhcp-server add name=guest interface=guest address-pool=guest lease-time=600 disabled=no
/ip dhcp-server network add address=192.168.30.7/24 gateway=192.168.30.1 dns-server=9.9.9.9,1.1.1.1
#! check ([/ip dhcp-server get guest lease-time] = 10m)
#! check ([/ip dhcp-server network get [find gateway="192.168.30.1"] address] = "192.168.30.0/24")
#! refuse /ip pool add name=bad ranges=192.168.30.99-192.168.30.10 -> invalid value for argument ranges
#! refuse /ip pool add name=bad ranges=foo-192.168.30.10 -> value of range must have ip address before '-'
#! refuse /ip pool add name=guest ranges=192.168.31.1-192.168.31.9 -> failure: pool with such name exists
#! refuse /ip dhcp-server add name=b interface=guest address-pool=nosuch -> input does not match any value of address-pool
#! refuse /ip dhcp-server network add address=192.168.31.0/24 dns-server=9.9.9 -> invalid value for argument dns-server
#! refuse /interface vlan add name=guest2 interface=bridge vlan-id=5000 -> value of vlan-id out of range (1..4094)
