# A rule that stops one device, off until a scheduler switches it on at night.
# run-on: all
/ip firewall filter add chain=forward src-mac-address=30:07:4D:F5:07:49 action=drop comment="bedtime" disabled=yes place-before=0
/system scheduler add name=bedtime-on start-time=21:30:00 interval=1d on-event="/ip firewall filter enable [find comment=bedtime]"
/system scheduler add name=bedtime-off start-time=06:30:00 interval=1d on-event="/ip firewall filter disable [find comment=bedtime]"
#! check ([/ip firewall filter get 0 comment] = "bedtime")
#! check ([/system scheduler get bedtime-on interval] = 1d)
#! wait 25h
#! check (([/system scheduler get bedtime-on run-count] + [/system scheduler get bedtime-off run-count]) >= 2)
#! refuse /system scheduler add name=x start-time=25:00:00 on-event=":put 1" -> invalid value for argument start-time
#! refuse /ip firewall filter add chain=forward action=dropp -> input does not match any value of action
