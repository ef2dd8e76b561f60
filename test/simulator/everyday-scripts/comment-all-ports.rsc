# Give every Ethernet port without a comment one.
# run-on: all
:foreach port in=[/interface ethernet find where comment=""] do={
  :local name [/interface ethernet get $port name]
  /interface ethernet set $port comment="port $name"
}
#! check ([/interface get ether3 comment] = "port ether3")
#! check ([:len [/interface ethernet find where comment~"^port "]] = 5)
#! refuse /interface ethernet set ether9 comment=x -> no such item
#! refuse /interface ethernet set ether1 comment=two words -> expected end of command
