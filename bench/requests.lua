-- The requests of one wrk run, read from a file with one request a line: method, path, key and body (may be empty), separated by tabs.
-- Prints the result as one line of JSON. With `once`, each request is sent once and the run ends when they are used up.

local requests, count, position, once = {}, 0, 0, false

function init(args)
  once = args[2] == "once"
  for line in io.lines(args[1]) do
    local method, path, key, body = line:match("^(%S+)\t(%S+)\t(%S+)\t(.*)$")
    local headers = { ["Authorization"] = "Bearer " .. key }
    if body == "" then body = nil end
    if body then headers["Content-Type"] = "application/json" end
    count = count + 1
    requests[count] = wrk.format(method, path, headers, body)
  end
end

function request()
  position = position + 1
  if position > count then
    if once then wrk.thread:stop() end
    position = 1
  end
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"not_ok":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
