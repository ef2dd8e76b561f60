# Note tunnels that do not run.
# run-on: all
/interface l2tp-client add name=l2tp-office connect-to=vpn.example user=r1 password=x disabled=no
/interface sstp-client add name=sstp-office connect-to=vpn.example user=r1 password=x disabled=yes
:foreach tunnel in=[/interface find where type~"-out\$" and running=no] do={
  :log warning ("tunnel " . [/interface get $tunnel name] . " is down")
}
#! log tunnel sstp-office is down
#! check ([:len [/log find where message~"l2tp-office"]] = 0)
#! refuse /interface l2tp-client add name=l3 connect-to=999.1.1.1 user=x -> invalid value for argument connect-to
#! refuse /interface l2tp-client add name=l3 user=x -> missing value(s) of argument(s) connect-to
