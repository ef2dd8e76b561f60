# Go on after a mistake, and note it.
# run-on: all
:local failures 0
:foreach target in={"192.168.77.1/24";"bogus";"192.168.78.1/24"} do={
  :do {
    /ip address add address=$target interface=bridge comment="lab"
  } on-error={ :set failures ($failures + 1); :log warning "could not add $target" }
}
:if ($failures != 1) do={ :error "expected one failure, had $failures" }
#! check ([:len [/ip address find comment="lab"]] = 2)
#! log could not add bogus
#! refuse :error "stop here" -> stop here
#! refuse :if ("text") do={} -> conditional not boolean
