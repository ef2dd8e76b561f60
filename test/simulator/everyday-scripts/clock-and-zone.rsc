# Set the time zone and the time servers.
# run-on: all
/system clock set time-zone-autodetect=no time-zone-name=Europe/Berlin
#! check ([/system clock get time-zone-name] = "Europe/Berlin")
#! refuse /system clock set time-zone-name=Europe/Gotham -> input does not match any value of time-zone-name
#! refuse /system clock set time-zone-name=europe/berlin -> input does not match any value of time-zone-name
#! refuse /system clock set time=26:00:00 -> invalid value for argument time
