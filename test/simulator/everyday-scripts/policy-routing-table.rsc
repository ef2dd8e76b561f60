# Send one host through the second provider.
# run-on: v7
/routing table add name=via-lte fib
/ip route add dst-address=0.0.0.0/0 gateway=192.168.88.12 routing-table=via-lte
/routing rule add src-address=192.168.88.10/32 action=lookup table=via-lte
#! check ([/ip route get [find routing-table="via-lte"] active] = true)
#! check ([/routing rule get 0 src-address] = "192.168.88.10/32")
#! refuse /ip route add gateway=192.168.88.12 routing-table=nosuch -> input does not match any value of routing-table
#! refuse /routing rule add action=guess -> input does not match any value of action
