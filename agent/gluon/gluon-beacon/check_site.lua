need_string_match({'beacon', 'url'}, '^https?://[^%s/]')
need_string_match({'beacon', 'enrol_key'}, '^bcn_[%w_]+$', false)
need_string_array_match({'beacon', 'allow_http'}, '^[%x.:]+/%d+$', false)
