# Remove global variables of an old script.
# run-on: all
:global oldCounter 5
:global oldName "x"
:global keepMe 1
:foreach entry in=[/system script environment find where name~"^old"] do={ /system script environment remove $entry }
#! check ([:len [/system script environment find where name~"^old"]] = 0)
#! check ([:len [/system script environment find name=keepMe]] = 1)
#! refuse /system script environment remove nosuch -> no such item
