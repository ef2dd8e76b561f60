# Keep the three newest backups.
# run-on: all
:for i from=1 to=5 do={ /system backup save name="rotate-$i" }
:local found [/file find where name~"^rotate-"]
:local surplus ([:len $found] - 3)
:for i from=0 to=($surplus - 1) do={ /file remove ($found->$i) }
#! check ([:len [/file find where name~"^rotate-"]] = 3)
#! check ([:len [/file find name="rotate-5.backup"]] = 1)
#! refuse /file remove rotate-1.backup -> no such item
