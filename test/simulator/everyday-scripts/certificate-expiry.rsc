# Warn in the log about certificates that end within thirty days.
# run-on: all
/certificate add name=short common-name=short.example days-valid=10
/certificate add name=long common-name=long.example days-valid=3650
/certificate sign short
/certificate sign long
:foreach cert in=[/certificate find] do={
  :local left [/certificate get $cert expires-after]
  :if ($left < 30d) do={ :log warning ("certificate " . [/certificate get $cert name] . " expires in $left") }
}
#! log certificate short expires in
#! check ([:len [/log find where message~"certificate long"]] = 0)
#! refuse /certificate add name=bad common-name=x days-valid=0 -> value of days-valid out of range (1..36500)
#! refuse /certificate sign nosuch -> no such item
