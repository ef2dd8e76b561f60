# Remove schedulers that ran once and will not run again.
# run-on: all
/system scheduler add name=once-1 start-time=startup interval=0 on-event=":log info once"
/system scheduler add name=daily-1 start-time=03:00:00 interval=1d on-event=":log info daily"
:foreach entry in=[/system scheduler find where interval=0s] do={
  :if ([/system scheduler get $entry name] ~ "^once-") do={ /system scheduler remove $entry }
}
#! check ([:len [/system scheduler find name="once-1"]] = 0)
#! check ([:len [/system scheduler find name="daily-1"]] = 1)
#! refuse /system scheduler add name=daily-1 interval=1d on-event="" -> failure: item with this name already exists
#! refuse /system scheduler add name=x interval=often on-event="" -> invalid value for argument interval
