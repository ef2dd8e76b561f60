# A tunnel to the branch with a pre-shared key.
# run-on: all
/ip ipsec profile add name=branch hash-algorithm=sha256 enc-algorithm=aes-256 dh-group=modp2048 lifetime=8h
/ip ipsec proposal add name=branch auth-algorithms=sha256 enc-algorithms=aes-256-cbc pfs-group=modp2048
/ip ipsec peer add name=branch address=198.51.100.20/32 profile=branch exchange-mode=ike2
/ip ipsec identity add peer=branch auth-method=pre-shared-key secret="long and secret"
/ip ipsec policy add peer=branch tunnel=yes src-address=192.168.88.1/24 dst-address=192.168.40.0/24 proposal=branch
#! check ([/ip ipsec policy get [find peer=branch] src-address] = "192.168.88.0/24")
#! check ([/ip ipsec profile get branch lifetime] = 8h)
#! refuse /ip ipsec peer add name=p2 address=198.51.100.21/32 exchange-mode=ike9 -> input does not match any value of exchange-mode
#! refuse /ip ipsec identity add peer=nosuch secret=x -> input does not match any value of peer
#! refuse /ip ipsec profile add name=p2 dh-group=modp4 -> input does not match any value of dh-group
