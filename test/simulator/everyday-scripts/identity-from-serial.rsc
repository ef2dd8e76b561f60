# Name the router after its board.
# run-on: all
:local serial [/system routerboard get serial-number]
:local model [/system routerboard get model]
/system identity set name="$model-$[:pick $serial 0 4]"
#! check ([:len [/system identity get name]] > 10)
#! refuse /system identity set name=two words -> expected end of command
#! refuse /system identity set nome=x -> /expected end of command|bad parameter nome/
