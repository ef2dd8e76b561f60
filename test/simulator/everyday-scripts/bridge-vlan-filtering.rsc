# A bridge with a tagged uplink and one access VLAN.
# run-on: all
/interface bridge add name=br-vlan protocol-mode=rstp
/interface bridge port remove [find interface=ether4]
/interface bridge port add bridge=br-vlan interface=ether4 pvid=20
/interface bridge vlan add bridge=br-vlan tagged=br-vlan,ether5 untagged=ether4 vlan-ids=20
/interface bridge set br-vlan vlan-filtering=yes
#! check ([/interface bridge port get [find interface=ether4] pvid] = 20)
#! check ([/interface bridge get br-vlan vlan-filtering] = true)
#! refuse /interface bridge port set [find interface=ether4] pvid=4095 -> value of pvid out of range (1..4094)
#! refuse /interface bridge vlan add bridge=br-vlan vlan-ids=5000 -> value of vlan-ids out of range (1..4094)
#! refuse /interface bridge add name=br-x protocol-mode=fast -> input does not match any value of protocol-mode
