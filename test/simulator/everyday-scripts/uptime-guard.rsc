# Do a thing only when the router has been up for a while.
# run-on: all
:local up [/system resource get uptime]
:if ($up > 10m) do={ :log info "up for $up" } else={ :log info "just started" }
#! log up for
#! refuse /system resource set uptime=1h -> bad command name set
