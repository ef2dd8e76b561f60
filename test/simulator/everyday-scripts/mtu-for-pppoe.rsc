# A PPPoE uplink with its smaller packets.
# run-on: all
/interface pppoe-client add name=pppoe-wan interface=ether1 user=customer password=secret add-default-route=yes use-peer-dns=yes disabled=no max-mtu=1492
/interface list member add list=WAN interface=pppoe-wan
/interface ethernet set ether1 mtu=1508
#! check ([/interface pppoe-client get pppoe-wan max-mtu] = 1492)
#! check ([/interface get pppoe-wan type] = "pppoe-out")
#! refuse /interface ethernet set ether1 mtu=99999999 -> value of mtu out of range (68..65535)
#! refuse /interface pppoe-client add name=p2 user=x interface=ether9 -> input does not match any value of interface
#! refuse /interface pppoe-client add name=pppoe-wan user=x interface=ether2 -> failure: already have interface with such name
