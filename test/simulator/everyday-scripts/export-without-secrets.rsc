# Save the configuration for review.
# run-on: all
/ppp secret add name=alice password=hunter2 service=l2tp
/export terse file=review
#! check ([:len [/file find name="review.rsc"]] = 1)
#! refuse /export file=review hide-sensitive=yes -> expected end of command
#! refuse /ppp secret add name=bob service=telephone -> input does not match any value of service
#! refuse /ppp secret add name=bob profile=nosuch -> input does not match any value of profile
