# Save a backup and an export, and mail the backup.
# run-on: all
# mail-server: 192.0.2.25
:local name [/system identity get name]
/system backup save name="$name-nightly"
/export file="$name-nightly"
:delay 2s
/tool e-mail send to="noc@example.net" subject="$name backup" body="see the file" file="$name-nightly.backup"
#! check ([:len [/file find name="MikroTik-nightly.backup"]] = 1)
#! check ([:len [/file find name="MikroTik-nightly.rsc"]] = 1)
#! mail MikroTik backup
#! refuse /tool e-mail send to="noc@example.net" subject=x file=nosuch.backup -> failure: cannot open file nosuch.backup
#! refuse /tool e-mail send subject=x -> missing value(s) of argument(s) to
