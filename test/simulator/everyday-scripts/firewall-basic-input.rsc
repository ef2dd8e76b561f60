# Drop what comes from outside and log it, before the last rule.
# run-on: all
/ip firewall filter
add chain=input action=log log-prefix="from outside" in-interface-list=WAN connection-state=new comment=log-outside
move [find comment=log-outside] destination=3
add chain=input action=accept protocol=tcp dst-port=22,8291 src-address=10.9.8.7/24 comment=office place-before=0
#! check ([/ip firewall filter get [find comment=office] src-address] = "10.9.8.0/24")
#! check ([/ip firewall filter get 0 comment] = "office")
#! refuse /ip firewall filter add chain=input dst-port=22 action=accept -> failure: ports can be specified if proto is tcp,udp,udp-lite,dccp,sctp
#! refuse /ip firewall filter add chain=input protocol=tcp dst-port=70000 action=accept -> invalid value for argument dst-port
#! refuse /ip firewall filter add chain=input in-interface=nosuch action=drop -> input does not match any value of in-interface
#! refuse /ip firewall filter add action=drop -> missing value(s) of argument(s) chain
