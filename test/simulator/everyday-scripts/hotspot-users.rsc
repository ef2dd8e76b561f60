# Add vouchers for the hotspot and remove those that are used up.
# run-on: all
/ip hotspot user profile add name=guest shared-users=2 rate-limit=5M/5M session-timeout=4h
:for i from=1 to=5 do={ /ip hotspot user add name="voucher-$i" password="pw$i" profile=guest limit-uptime=4h }
/ip hotspot user remove [find name="voucher-3"]
#! check ([:len [/ip hotspot user find where name~"^voucher-"]] = 4)
#! check ([/ip hotspot user get voucher-1 limit-uptime] = 4h)
#! refuse /ip hotspot user add name=voucher-1 profile=guest -> failure: already have item with such name
#! refuse /ip hotspot user add name=v profile=nosuch -> input does not match any value of profile
#! refuse /ip hotspot user add name=v mac-address=nonsense -> invalid value for argument mac-address
