# Switch off ports without a comment that have no link.
# run-on: all
/interface ethernet set ether2,ether3 comment="in use"
:foreach port in=[/interface ethernet find where comment=""] do={
  :local name [/interface ethernet get $port name]
  :if ($name != "ether1") do={ /interface ethernet disable $port }
}
#! check ([:len [/interface ethernet find where disabled=yes]] = 2)
#! check ([/interface get ether4 running] = false)
#! refuse /interface disable ether77 -> no such item
