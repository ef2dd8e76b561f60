# A dial-in for two people, with addresses from a pool.
# run-on: all
/ip pool add name=vpn ranges=10.8.0.10-10.8.0.50
/ppp profile add name=vpn local-address=10.8.0.1 remote-address=vpn dns-server=10.8.0.1
/ppp secret add name=alice password=a-secret service=l2tp profile=vpn
/ppp secret add name=bob password=b-secret service=l2tp profile=vpn remote-address=10.8.0.9
/interface l2tp-server server set enabled=yes use-ipsec=required ipsec-secret=shared default-profile=vpn
#! check ([:len [/ppp secret find profile=vpn]] = 2)
#! check ([/interface l2tp-server server get enabled] = true)
#! refuse /ppp profile add name=v2 remote-address=nosuch -> /input does not match any value of remote-address|invalid value for argument remote-address/
#! refuse /interface l2tp-server server set max-mtu=100000 -> value of max-mtu out of range (576..65535)
#! refuse /ppp secret add name=alice password=x -> failure: secret with the same name already exists
