# Look for a new version and mail when there is one.
# run-on: all
# mail-server: 192.0.2.25
/system package update set channel=stable
/system package update check-for-updates
:delay 5s
:local installed [/system package update get installed-version]
:local latest [/system package update get latest-version]
:if ($installed != $latest) do={
  /tool e-mail send to="noc@example.net" subject="update $latest" body="now $installed"
}
#! check ([/system package update get status] = "New version is available")
#! mail update 9.9
#! refuse /system package update set channel=bleeding -> input does not match any value of channel
