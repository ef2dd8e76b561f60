# A shared address that moves between two routers.
# run-on: all
/interface vrrp add name=vrrp-lan interface=bridge vrid=10 priority=200 on-master=":log info master"
/ip address add address=192.168.88.254/32 interface=vrrp-lan
#! check ([/interface vrrp get vrrp-lan priority] = 200)
#! refuse /interface vrrp add name=v2 interface=bridge vrid=256 -> value of vrid out of range (1..255)
#! refuse /interface vrrp add name=v2 interface=bridge priority=255 -> value of priority out of range (1..254)
