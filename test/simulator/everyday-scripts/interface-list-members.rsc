# Put the VPN interface into the list of trusted ones.
# run-on: all
/interface list add name=TRUSTED comment="may manage"
/interface eoip add name=eoip-office remote-address=198.51.100.9 tunnel-id=7
/interface list member add list=TRUSTED interface=eoip-office
/interface list member add list=TRUSTED interface=bridge
#! check ([:len [/interface list member find list=TRUSTED]] = 2)
#! refuse /interface list member add list=TRUSTED interface=bridge -> failure: already have such member
#! refuse /interface list member add list=NOSUCH interface=bridge -> input does not match any value of list
#! refuse /interface eoip add name=e2 remote-address=198.51.100.9 tunnel-id=99999 -> value of tunnel-id out of range (0..65535)
