# Two default routes; the second takes over when the first gateway stops answering pings.
# run-on: all
/ip address add address=198.51.100.2/30 interface=ether2
/ip arp add address=198.51.100.1 interface=ether2 mac-address=02:00:00:00:0A:01
/ip route set [find dst-address="0.0.0.0/0"] check-gateway=ping distance=1
/ip route add dst-address=0.0.0.0/0 gateway=198.51.100.1 distance=2 comment=backup check-gateway=ping
#! check ([/ip route get [find comment=backup] active] = false)
#! do /ip arp remove [find address=203.0.113.1]
#! check ([/ip route get [find comment=backup] active] = true)
#! refuse /ip route add gateway=999.1.1.1 -> invalid value for argument gateway
#! refuse /ip route add gateway=198.51.100.1 distance=0 -> value of distance out of range (1..255)
#! refuse /ip route add dst-address=10.0.0.0/40 gateway=198.51.100.1 -> invalid value for argument dst-address
#! refuse /ip route add gateway=198.51.100.1 check-gateway=smell -> input does not match any value of check-gateway
