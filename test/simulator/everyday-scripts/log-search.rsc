# Count failed logins of the last thousand lines.
# run-on: all
:log info "prepared"
:log error "login failure for user root from 198.51.100.9 via ssh"
:log error "login failure for user admin from 198.51.100.9 via ssh"
:local bad [:len [/log find where message~"login failure"]]
:if ($bad >= 2) do={ /ip firewall address-list add list=intruders address=198.51.100.9 }
#! check ([:len [/ip firewall address-list find list=intruders]] = 1)
#! refuse /log remove 0 -> bad command name remove
#! refuse /log add message=x -> bad command name add
