# Switch a port off and on to make a device start over.
# run-on: all
/interface disable ether5
:delay 3s
/interface enable ether5
#! check ([/interface get ether5 disabled] = false)
#! check ([:len [/log find where message~"interface changed"]] >= 2)
#! refuse /interface ethernet disable nosuch -> no such item
