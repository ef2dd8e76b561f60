# A script of netwatch moves the default route when the provider is away, and back.
# run-on: all
/ip route set [find dst-address="0.0.0.0/0"] comment=main
/ip route add dst-address=0.0.0.0/0 gateway=192.168.88.12 distance=5 comment=lte
/tool netwatch add host=203.0.113.1 interval=10s timeout=1s comment=provider \
  up-script="/ip route set [find comment=main] distance=1; :log warning \"provider is back\"" \
  down-script="/ip route set [find comment=main] distance=10; :log warning \"provider is away\""
#! wait 15s
#! check ([/tool netwatch get [find comment=provider] status] = "up")
#! do /ip arp remove [find address=203.0.113.1]
#! wait 15s
#! log provider is away
#! check ([/ip route get [find comment=main] distance] = 10)
#! check ([/ip route get [find comment=lte] active] = true)
#! do /ip arp add address=203.0.113.1 interface=ether1 mac-address=4C:5E:0C:12:AA:CC
#! wait 15s
#! check ([/ip route get [find comment=main] distance] = 1)
#! refuse /tool netwatch add host=999.1.1.1 -> invalid value for argument host
#! refuse /tool netwatch add host=192.0.2.1 interval=now -> invalid value for argument interval
