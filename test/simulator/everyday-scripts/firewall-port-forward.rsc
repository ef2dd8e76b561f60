# Forward a port to a camera, and take the rule away again.
# run-on: all
/ip firewall nat add chain=dstnat action=dst-nat protocol=tcp dst-port=9443 in-interface-list=WAN to-addresses=192.168.88.12 to-ports=443 comment=camera
/ip firewall nat add chain=dstnat action=dst-nat protocol=tcp dst-port=9444 to-addresses=192.168.88.11 to-ports=80 comment=old
/ip firewall nat remove [find comment=old]
#! check ([/ip firewall nat get [find comment=camera] to-ports] = 443)
#! check ([:len [/ip firewall nat find comment=old]] = 0)
#! refuse /ip firewall nat add chain=dstnat action=dst-nat protocol=tcp dst-port=9445 to-addresses=192.168.88.400 -> invalid value for argument to-addresses
#! refuse /ip firewall nat add chain=dstnat action=forward -> input does not match any value of action
