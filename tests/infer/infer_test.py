#!/usr/bin/env python3
"""tquel infer FILE | tquel loads FILE. Prints TAP.

    infer_test.py TQUEL [FILE...]      the cases below; with files, these instead

Of each file the statements are printed and run, in a session without a database; what is loaded is counted, and compared
with what `create R from` and `range of r is file` load. A case says how many tuples there are to be, and what
the create statement is, from its kind on; None: that there is nothing to infer. Further values are counts of conditions.
"""
import gzip
import json
import os
import time
import random
import re
import subprocess
import sys
import tempfile

CASES = []


def case(name, content, create, rows, *conditions, infer=()):
    CASES.append((name, content, create, rows, conditions, infer))


def lines(*rows, end='\n'):
    return end.join(rows) + end


case('plain.csv', lines('host,n', 'a,1', 'b,2'), 'plain (host = text, n = i4)', 2, ('r.n = 2', 1))
case('crlf.csv', lines('time,n', '2026-01-01,1', '2026-01-02,2', end='\r\n'), 'event crlf (n = i4)', 2)
case('bom.csv', '\ufeff' + lines('time,n', '2026-01-01,1'), 'event bom (n = i4)', 1)
case('nonewline.csv', 'time,n\n2026-01-01,1\n2026-01-02,2', 'event nonewline (n = i4)', 2)
case('quoted.csv', 'time,s\n2026-01-01,"a\nb, ""c"""\n2026-01-02,d\n', 'event quoted (s = text)', 2,
     ('r.s = "a\\nb, \\"c\\""', 1))
case('header-only.csv', 'time,n\n', 'header_only (time_ = text, n = text)', 0)
case('empty.csv', '', None, 0)
case('blank.csv', '\n\n  \n', None, 0)
case('one.csv', 'name\nx\ny\n', 'one (name = text)', 2)
case('zeros.csv', lines('zip,n', '01069,1', '10115,2'), 'zeros (zip = text, n = i4)', 2, ('r.zip = "01069"', 1))
case('big.csv', lines('n,m', '3000000000,1', '1,2'), 'big (n = i8, m = i4)', 2, ('r.n = 3000000000', 1))
case('float.csv', lines('x,y', '1.5,1', '2,2.25'), 'float (x = f8, y = f8)', 2, ('r.x = 1.5', 1))
case('truth.csv', lines('ok,n', 'true,1', 'False,2'), 'truth (ok = bool, n = i4)', 2, ('r.ok = true', 1))
case('gaps.csv', lines('k,n', 'a,1', 'b,'), 'gaps (k = text, n = text)', 2, ('r.n = ""', 1))
case('names.csv', lines('time,Time of day,where,1st,at_lo,größe,a-b,a b', '2026-01-01,x,y,z,w,g,1,2'),
     'event names (Time_of_day = text, where_ = text, _1st = text, at_lo_ = text, gr_e = text, a_b = i4, a_b_2 = i4)', 1)
case('twice.csv', lines('x,x,X', '1,2,a'), 'twice (x = i4, x_2 = i4, X_3 = text)', 1, ('r.x_2 = 2', 1))
case('index.csv', lines(',a', '0,x', '1,y'), 'index_ (column1 = i4, a = text)', 2)
case('headless.csv', lines('1,a', '2,b'), 'headless (column1 = i4, column2 = text)', 2)
case('semicolon.csv', lines('a;b', '1;2,5', '3;4,5'), 'semicolon (a = i4, b = text)', 2)
case('ragged.csv', lines('start,end,x,y', '2026-01-01,2026-01-02', '2026-01-02,,b', '2026-01-03', '2026-01-03,2026-01-05,c,d'),
     'period ragged (x = text, y = text)', 4, ('r.x = ""', 2), ('r.y = "d"', 1))
case('cut.csv', lines(*['a,b'] + ['%d,%d' % (i, i) for i in range(300)]) + '7', 'cut (a = i4, b = i4)', None)
case('python.log', lines('2026-11-28 10:00:00,123 INFO Server started, port 80', '2026-11-28 10:00:00,223 WARNING slow, took 3 s',
                          '2026-11-28 10:00:01,323 no level'), 'event python (level = text, message = text)', 3,
     ('r.level = "WARNING"', 1), ('r.message = "no level"', 1), ('r.level = ""', 1))
case('postgres.log', lines('2026-11-28 10:00:00.123 UTC [123] LOG:  is ready', '2026-11-28 10:00:01.123 UTC [124] app@db ERROR:  deadlock'),
     'event postgres (message = text)', 2, ('r.message = "*is ready"', 1))
case('traces.log', lines('2026-11-28 10:00:00,123 INFO Server started', '2026-11-28 10:00:00,223 ERROR failed', 'Traceback (most recent call last):',
                         'ValueError: x', '2026-11-28 10:00:01,323 INFO on'), 'event traces (level = text, message = text)', 3,
     ('r.message = "failed\\nTraceback*ValueError: x"', 1))
case('java.log', lines('2026-11-29 06:13:37,123 [main] INFO  com.example.App - Started', '2026-11-29 06:13:38,123 [pool-1-thread-2] ERROR com.example.App - failed'),
     'event java (thread = text, level = text, message = text)', 2, ('r.thread = "pool-1-thread-2"', 1), ('r.level = "INFO"', 1))
case('dump.log', lines('2026-11-29 06:13:37,123 [main] ERROR failed', 'java.lang.NullPointerException: x', *['\tat a.b.C.d(C.java:%d)' % i for i in range(60)]),
     'event dump (thread = text, level = text, message = text)', 1, ('r.message = "*59)"', 1))
case('glog.log', lines('I1129 06:13:37.123456   12345 server.go:123] Starting', 'E1129 06:13:38.223456   12345 server.go:125] slow "x"'),
     'event glog (level = text, thread = i4, file = text, line = i4, message = text)', 2, ('r.line = 125', 1), ('r.level = "E"', 1))
case('audit.log', lines('type=SYSCALL msg=audit(1764398000.123:24287): arch=c000003e syscall=2 comm="cat"', 'type=CWD msg=audit(1764398001.123:24288):  cwd="/x"'),
     'event audit (node = text, type = text, serial = i4, message = text)', 2, ('r.serial = 24287', 1))
case('catalina.out', lines('29-Nov-2026 06:13:37.123 INFO [main] org.apache.x.y Server', '29-Nov-2026 06:13:38.123 WARNING [main] org.apache.x.y slow'),
     'event catalina (level = text, message = text)', 2, ('r.level = "WARNING"', 1))
case('php.log', lines('[29-Nov-2026 06:13:37 UTC] PHP Warning:  Undefined', '[29-Nov-2026 06:13:38 UTC] PHP Fatal error:  Uncaught'),
     'event php (message = text)', 2, ('r.message = "PHP Warning:*"', 1))
case('php-place.log', lines('[29-Nov-2026 06:13:37 Europe/Berlin] PHP Warning:  x', '[29-Nov-2026 06:13:38 Europe/Berlin] PHP Warning:  x'), None, 0)
case('milliseconds.log', lines('1764398000123 INFO started', '1764398001123 WARN slow'), 'event milliseconds (level = text, message = text)', 2)
case('gc.log', lines('[2026-11-29T06:13:37.123+0000][info][gc] GC(0) Pause Young 24M->4M(256M) 3.456ms', '[2026-11-29T06:13:38.123+0000][info][gc] GC(1) Pause'),
     'event gc (level = text, message = text)', 2, ('r.level = "info"', 2))
case('comments.csv', lines('# made by "x', '# at y', 'time,host', '2026-11-29 06:13:37,a', '2026-11-29 06:13:38,b'), 'event comments (host = text)', 2, ('r.host = "b"', 1))
case('comment-header.csv', lines('# made by x', '#time,host', '2026-11-29 06:13:37,a', '2026-11-29 06:13:38,b'), 'event comment_header (host = text)', 2, ('r.host = "b"', 1))
case('sep.csv', lines('sep=;', 'time;host', '2026-11-29 06:13:37;a', '2026-11-29 06:13:38;b', end='\r\n'), 'event sep (host = text)', 2, ('r.host = "b"', 1))
case('sep.txt', lines('sep=,', 'time,host', '2026-11-29 06:13:37,a', '2026-11-29 06:13:38,b'), 'event sep (host = text)', 2, ('r.host = "b"', 1))
case('comments-sep.csv', '\ufeff' + lines('# a "b', '# c', 'sep=;', 't;v', '2026-01-01;1', '2026-01-02;-2'), 'event comments_sep (v = i4)', 2, ('r.v = -2', 1))
case('comment-names.tsv', lines('# made by x', '#code\tplace', 'AD\t+42+01', 'AE\t+24+55'), 'comment_names (code = text, place = text)', 2, ('r.code = "AD"', 1))
case('comment-prose.csv', lines('# made by x, of y', 'name,place', 'a,b', 'c,d'), 'comment_prose (name = text, place = text)', 2, ('r.name = "a"', 1))
case('since1900.txt', lines('2272060800 10 # 1 Jan 1972', '3692217600 37 # 1 Jan 2017'), 'since1900 (time_ = i8, message = text)', 2)
case('digits.ndjson', lines('{"time":"2026-01-01T00:00:00Z","took":0.012345678901234567}', '{"time":"2026-01-01T00:00:01Z","took":5.123456789012345e-05}'),
     'event digits (took = f8)', 2)
case('quoted-sep.csv', lines('"sep=;"', 't;v', '2026-01-01;1', '2026-01-02;-2'), 'event quoted_sep (v = i4)', 2)
case('glog-first.log', lines('Log file created at: 2026/11/29 06:13:37', *['I1129 06:13:37.123456   12345 server.go:%d] x' % i for i in range(4)]),
     'event glog_first (level = text, thread = i4, file = text, line = i4, message = text)', None)
case('heavy.log', lines(*['2026-11-29 06:13:3%d INFO a%s' % (i, '\r\njava.E: x\r\n  at b\r\n... 3 more\r\nCaused by: y' if i < 3 else '') for i in range(4)], end='\r\n'),
     'event heavy (level = text, message = text)', 4, ('r.message = "a\\njava.E: x\\n  at b\\n... 3 more\\nCaused by: y"', 3))
case('only-comments.csv', lines('# a', '# b'), 'only_comments (b = text)', 0)
case('years.csv', lines('country,2019,2020,2021', 'DE,1,2,3'), 'years (country = text, _2019 = i4, _2020 = i4, _2021 = i4)', 1, ('r._2021 = 3', 1))
case('year-rows.csv', lines('DE,2019,2021,1', 'FR,2020,2022,1'), 'year_rows (column1 = text, column2 = i4, column3 = i4, column4 = i4)', 2)
case('forever.csv', lines('id,valid_from,valid_to', '1,2026-01-01,2026-02-01', '1,2026-02-01,9999-12-31 23:59:59', '2,2026-03-01,infinity'),
     'period forever (id = i4)', 3, ('r.id = 1', 2))
case('forever-dots.csv', lines('id,begin,end', '1,01.02.2026,03.02.2026', '1,13.02.2026,31.12.9999'), 'period forever_dots (id = i4)', 2)
case('endless-start.csv', lines('id,valid_from,valid_to', '1,9999-12-31,2026-02-01', '1,2026-02-01,2026-02-03'), 'event endless_start (id = i4, valid_from = text)', 2)
case('abbreviated.log', lines('2026-11-28 10:00:00.123 CET [123] LOG:  is ready', '2026-11-28 10:00:01.123 CET [124] app@db ERROR:  x'), None, 0)
case('redis.log', lines('1234:M 28 Nov 2026 10:00:00.123 * Ready', '1234:M 28 Nov 2026 10:00:01.123 # Warning'),
     'event redis (origin = text, message = text)', 2, ('r.origin = "1234:M"', 2))
case('go.log', lines('2026/11/28 10:00:00 listening', '2026/11/28 10:00:01.5 gone'), 'event go (message = text)', 2)
case('strace.log', lines('1795912345.123456 read(3, "", 1) = 0', '1795912345.223456 close(3) = 0'), 'event strace (message = text)', 2)
case('alternatives.log', lines('update-alternatives 2025-06-24 14:36:53: run with --quiet', 'update-alternatives 2025-06-24 14:36:53: link'),
     'event alternatives (origin = text, message = text)', 2, ('r.message = "link"', 1))
case('no-log.txt', lines('2026-11-28 10:00:00,5,a', '2026-11-28 10:00:01,6,b'), 'event no_log (column2 = i4, column3 = text)', 2)
case('days.csv', lines('start,stop', '20260131,20260228', '20260201,20260301'), 'period days (', 2)
case('orders.csv', lines('start,end', '01/02/2026,13/02/2026', '03/04/2026,15/04/2026'), 'period orders (', 2,
     infer=('like "%d/%m/%Y"',))
case('plain.log', lines('2026-11-20 10:00:00 starting worker 3', '2026-11-20 10:00:01 stopping worker 3'),
     'event plain (message = text)', 2, ('r.message = "stopping worker 3"', 1))
case('zone.log', lines('2026-11-20 10:00:00 UTC starting worker', '2026-11-20 10:00:01 UTC stopping worker'),
     'event zone (message = text)', 2, ('r.message = "stopping worker"', 1))
case('hours.log', lines('2026-01-01 10:00:00.123 -03 [123] LOG: x', '2026-01-01 10:00:01.123 -03 [123] LOG: y'),
     'event hours (message = text)', 2, ('r.message = "*LOG: y"', 1), infer=('%Y-%m-%d %H:%M:%S %z',))
case('place.log', lines('2026-01-01 10:00:00 Europe/Berlin x', '2026-01-01 10:00:01 Europe/Berlin y'), None, 0)
case('half.log', lines('01/02/2026 10:00:00 AM x', '01/02/2026 10:00:00 PM y'), None, 0)
case('moscow.log', lines('2026-01-01 10:00:00 MSK x', '2026-01-01 10:00:01 MSK y'), None, 0)
case('git.log', lines('Sun Nov 29 02:34:52 2026 +0000 e0a5b6b3 one', 'Sun Nov 29 02:35:52 2026 +0000 e0a5b6b4 two'),
     'event git (message = text)', 2, ('r.message = "*two"', 1), infer=('%z',))
case('isolevel.log', lines('2026-11-20T10:00:00Z INFO main: starting', '2026-11-20T10:00:01Z WARN main: stopping'),
     'event isolevel (level = text, message = text)', 2, ('r.level = "WARN"', 1))
case('vhost.log', lines('example.com:80 203.0.113.8 - bob [20/Nov/2026:09:00:01 +0000] "GET / HTTP/1.1" 200 5',
                        '10.0.0.1, 10.0.0.2 - - [20/Nov/2026:09:00:02 +0000] "GET / HTTP/1.1" 200 5',
                        '::1 - - [20/Nov/2026:09:00:03 +0000] "GET / HTTP/1.1" 200 5'),
     'event vhost (vhost = text, host = text', 3, ('r.vhost = "example.com:80" and r.user = "bob"', 1), ('r.host = "10.0.0.1, 10.0.0.2"', 1),
     ('r.host = "::1"', 1))
case('ragged-semicolon.csv', lines('id;name;note', '1;a;x', '2;b', '3;c', '4;d;y'), 'ragged_semicolon (id = i4, name = text, note = text)', 4)
case('ragged-comma.csv', lines('id,name,tags|kind,note', '1,a,x|y,n', '2,b,x|z', '3,c,p|q'),
     'ragged_comma (id = i4, name = text, tags_kind = text, note = text)', 3)
case('german.csv', lines('2026-01-01;1,5;2,5;3,5', '2026-01-02;1,5;2,5;3,5'), 'event german (column2 = text, column3 = text, column4 = text)', 2)
case('large.csv', lines('n', '9007199254740993', '1.5'), 'large (n = text)', 2, ('r.n = "9007199254740993"', 1))
case('timeout.csv', lines('time,timeout_ms', '2026-01-01,100', '2026-01-02,200'), 'event timeout (timeout_ms = i4)', 2)
case('unicode.log', lines('a=1 msg="c\\u00e9\\r"', 'a=2 msg="x"'), 'unicode (a = i4, msg = text)', 2, ('r.msg = "c\u00e9?"', 1))
case('cutgap.csv', lines(*['n,m,t'] + ['%d,%d,x' % (i, i) for i in range(150)] + [',7,x']) + '8,9', 'cutgap (n = text, m = i4, t = text)', None)
case('latin1.csv', 'id,gr\u00f6\u00dfe\n1,2\n3,4\n'.encode('latin-1'), 'latin1 (id = i4, column2 = i4)', 2, ('r.column2 = 4', 1))
case('info.log', lines('INFO: a', 'INFO: b'), None, 0)
case('wide.csv', b'\xff\xfea\x00,\x00', None, 0)
case('pipe.txt', lines('a|b', '1|x', '3|y'), 'pipe (a = i4, b = text)', 2)
case('tabs.tsv', lines('a\tb', '1\t5" disk', '3\t"x'), 'tabs (a = i4, b = text)', 2, ('r.b = "5\\" disk"', 1), ('r.b = "\\"x"', 1))
case('seconds.csv', lines('ts,x', '1769853600,a', '1769853601.5,b'), 'event seconds (x = text)', 2)
case('millis.csv', lines('timestamp,x', '1769853600123,a', '1769853600124,b'), 'event millis (x = text)', 2,)
case('micros.csv', lines('timestamp,x', '1769853600123456,a'), 'event micros (x = text)', 1)
case('nanos.csv', lines('timestamp,x', '1769853600123456789,a'), 'event nanos (x = text)', 1)
case('number.csv', lines('id,x', '1769853600,a'), 'number (id = i4, x = text)', 1)
case('us.csv', lines('date,x', '01/31/2026,a', '02/01/2026,b'), 'event us (x = text)', 2)
case('eu.csv', lines('date,x', '31/01/2026 10:00,a', '01/02/2026 11:00,b'), 'event eu (x = text)', 2)
case('span.csv', lines('start,end,x', '2026-01-01,2026-01-02,a', '2026-01-02,,b'), 'period span (x = text)', 2)
case('empty-periods.csv', lines('start,end,x', '2026-01-01,2026-01-01,a', '2026-01-02,2026-01-03,b'),
     'period empty_periods (x = text)', 2)
case('backwards.csv', lines('start,end,x', '2026-01-03,2026-01-02,a'), 'event backwards (end = text, x = text)', 1)
case('length.csv', lines('started,took_ms,x', '1769853600,20,a', '1769853601,0.5,b'), 'period length (x = text)', 2)
case('ended.csv', lines('ended,took_ms,x', '1769853600,20,a'), 'period ended (x = text)', 1)
case('own.csv', lines('start_lo,start_hi,stop_lo,stop_hi,definite,x', '1769853600000000000,1769853600000000000,forever,forever,true,1',
                      '1769853600000000000,1769853600000000001,1769853700000000000,1769853700000000000,true,2'),
     'period own (x = i4)', 2)
case('rows.ndjson', lines('{"at":"2026-01-01T00:00:00Z","a":{"b":1,"c":"x"},"l":[1,{"d":2}]}',
                          '{"at":"2026-01-02T00:00:00Z","a":{"b":2},"l":[]}'),
     'event rows (a_b = i4, a_c = text, l = text)', 2, ('r.l != ""', 2), ('r.a_c = ""', 1))
case('strings.ndjson', lines('{"id":"12","n":5}'), 'strings (id = text, n = i4)', 1)
case('null.ndjson', lines('{"time":"2026-01-01","s":null,"n":1}', '{"time":"2026-01-02","s":"x","n":2}'),
     'event null (s = text, n = i4)', 2)
case('array.json', '[\n  {"time": "2026-01-01",\n   "n": 1},\n  {"time": "2026-01-02", "n": 2}\n]\n', 'event array (n = i4)', 2)
case('objects.json', '{"n": 1,\n "s": "}"}\n{"n": 2,\n "s": "\\"{"}', 'objects (n = i4, s = text)', 2)
case('app.log', lines('ts=2026-01-01T00:00:00Z level=info msg="a \\"b\\"" n=1', 'ts=2026-01-01T00:00:01Z level=warn msg=x n=2'),
     'event app (level = text, msg = text, n = i4)', 2, ('r.msg = "a \\"b\\""', 1))
case('dpkg.log', lines('2025-06-24 14:36:25 startup archives unpack', '2025-06-24 14:36:25 upgrade libc6:amd64 1 2',
                       '2025-06-24 14:36:26 status installed libc6:amd64 2'),
     'event dpkg (action = text, package = text, version = text, version_after = text)', 3,
     ('r.action = "status installed"', 1))
case('access.log', lines('127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326',
                         '::1 - frank [10/Oct/2000:13:55:37 -0700] "POST /x HTTP/1.1" 304 - "http://r/" "Mozilla/5.0 (\\"x\\")"',
                         '10.0.0.1 - - [10/Oct/2000:13:55:38 -0700] "\\x16\\x03" 400 0'),
     'event access (vhost = text, host = text, ident = text, user = text, method = text, path = text, protocol = text, garbage = text, '
     'status = i4, bytes = i8, referer = text, agent = text, more = text)', 3, ('r.bytes = 0', 2), ('r.status = 304', 1))
case('syslog', lines('Jan  2 03:04:05 host sshd[17]: Accepted x', 'Jan 12 03:04:05 host kernel: y'),
     'event syslog (priority = text, host = text, program = text, pid = text, message = text)', 2)
case('syslog2', lines('2026-01-02T03:04:05.123456+01:00 host sshd[17]: Accepted x'),
     'event syslog2 (host = text, program = text, pid = i4, message = text)', 1)
case('history.log', lines('', 'Start-Date: 2025-06-24  14:36:25', 'Commandline: apt-get -qqy upgrade', 'End-Date: 2025-06-24  14:36:25', '',
                          'Start-Date: 2025-06-24  14:36:29', 'Commandline: apt-get install', ' -y', 'End-Date: 2025-06-24  14:37:04'),
     'period history (Commandline = text)', 2)
case('nginx.err', lines('2026/01/02 03:04:05 [error] 12#13: *1 open() failed'),
     'event nginx (level = text, pid = i4, tid = i4, message = text)', 1)
case('apache.err', lines('[Wed Oct 11 14:32:52.123456 2000] [core:error] [pid 35708:tid 4328] [client 72.15.99.187] File x'),
     'event apache (module = text, level = text, pid = i4, tid = i4, client = text, message = text)', 1)
case('git.tsv', lines('hash\tdate\tsubject', 'a1\t2026-01-01 10:00:00 +0100\t"quoted" begin', 'b2\t2026-01-01 10:00:01 +0100\tx'),
     'event git (hash = text, subject = text)', 2)
case('tabs-quoted.txt', lines('a\tb', '1\t"x\ty"', '2\t"z"'), 'tabs_quoted (a = i4, b = text)', 2, ('r.b = "z"', 1))
case('chronons.csv', lines('at,x', '1769853600000000000,1', '-5,2'), 'chronons (at_ = i8, x = i4)', 2)
case('bed.csv', lines('chrom,start,stop', 'a,100,200', 'b,150,300'), 'bed (chrom = text, start_ = i4, stop_ = i4)', 2)
case('prose.txt', lines('Once upon a time.', 'There was', 'a file, of text, and commas.'), None, 0)
case('binary.bin', b'\x00\x01\x02abc\n\x00', None, 0)
case('packed.csv.gz', gzip.compress(b'time,n\n2026-01-01,1\n') + gzip.compress(b'2026-01-02,2\n'), 'event packed (n = i4)', 2)
case('Late.csv', lines('a,b', '1,2'), 'Late_2 (a = i4, b = i4)', 1)
case('select.csv', lines('retrieve,b', '1,2'), 'select (retrieve_ = i4, b = i4)', 1)
case('2026-report.csv', lines('a,b', '1,2'), '_2026_report (a = i4, b = i4)', 1)


def wide(count):
    return lines(','.join('c%d' % i for i in range(count)), ','.join('%d' % i for i in range(count)))


case('wide.csv', wide(1000), 'wide (c0 = i4', 1)
case('too-wide.csv', wide(1001), None, 0)


def run(tquel, arguments, **more):
    return subprocess.run([tquel] + arguments, capture_output=True, timeout=120, **more)


class Points:
    def __init__(self):
        self.count, self.failed = 0, 0

    def point(self, good, name, *details):
        self.count += 1
        self.failed += not good
        print('%s %d - %s' % ('ok' if good else 'not ok', self.count, name), flush=True)
        for detail in [] if good else details:
            for line in str(detail).splitlines():
                print('# ' + line[:300])


def summary(conditions):
    """Counts of all tuples and of those that meet each condition, as statements; tuples at any time."""
    text = ' retrieve summary (n = count(r))'
    for condition in conditions:
        text += ' retrieve summary (n = count(r where %s))' % condition
    return text


def counts(result):
    return [int(n) for n in re.findall(r'^true,(\d+)$', result.stdout.decode(), re.M)]


def check(points, tquel, path, create, rows, conditions):
    name = os.path.basename(path)
    inferred = run(tquel, ['infer', path])
    text = inferred.stdout.decode()
    if create is None:
        points.point(inferred.returncode == 3 and b'TQ-0564' in inferred.stderr, name + ': nothing to infer', text, inferred.stderr)
        return
    made = re.search(r'^create (.*)$', text, re.M)
    points.point(inferred.returncode == 0 and made and made.group(1).startswith(create),
                 name + ': ' + create[:60], text, inferred.stderr)
    if not made:
        return
    relation = re.search(r'^copy (\S+)', text, re.M).group(1)
    wanted_counts = [rows] + [count for _, count in conditions]
    asked = 'range of r is %s' % relation + summary([c for c, _ in conditions])
    loaded = run(tquel, ['--format', 'csv', '-c', text, '-c', asked])
    if rows is None:
        points.point(loaded.returncode != 0 and b'TQ-0504' in loaded.stderr, name + ': it is not loaded', text, loaded.stderr)
        return
    points.point(loaded.returncode == 0 and counts(loaded) == wanted_counts, name + ': the statements load it',
                 text, loaded.stdout, loaded.stderr)
    asked = 'range of r is file "%s"' % path + summary([c for c, _ in conditions])
    loaded = run(tquel, ['--format', 'csv', '-c', asked])
    points.point(loaded.returncode == 0 and counts(loaded) == wanted_counts, name + ': range of r is file',
                 loaded.stdout, loaded.stderr)
    with open(path, 'rb') as file:
        loaded = run(tquel, ['--format', 'csv', '-c', 'create R from "-" range of r is R' + summary([c for c, _ in conditions])],
                     stdin=file)
    # By standard input the name does not say what it is.
    says_more = re.search(r'\.(csv|tsv)$', name) and rows == 0 or name in ('one.csv', 'ragged.csv', 'ragged-semicolon.csv', 'large.csv')
    points.point(says_more or (loaded.returncode == 0 and counts(loaded) == wanted_counts), name + ': create R from "-"',
                 loaded.stdout, loaded.stderr)


def hostile(points, tquel, folder):
    """Whatever the bytes, an answer: statements that load what is there, or an error with a number."""
    random.seed(7)
    pieces = [b'a,b\n', b'"', b'\n', b'{"a":', b'1', b'}', b'[', b']', b'\x00', b'\xff\xfe', b'2026-01-01', b'=', b' ', b'\r\n', b',', b';',
              b'\t', b'x' * 100, b'{"a":{"b":{"c":[1,"]"]}}}\n', b'k=v k2="v\\"\n', b'Key: v\n\n', b'a\x00b,', b'1769853600', b'\x1f\x8b\x08\x00']
    good = True
    for i in range(60):
        path = os.path.join(folder, 'h%d%s' % (i, random.choice(['', '.csv', '.json', '.log', '.tsv', '.ndjson'])))
        with open(path, 'wb') as file:
            file.write(b''.join(random.choice(pieces) for _ in range(random.randint(1, 40))))
        inferred = run(tquel, ['infer', path])
        fine = inferred.returncode in (0, 3) and (inferred.returncode == 0 or b'TQ-' in inferred.stderr)
        if inferred.returncode == 0:
            loaded = run(tquel, ['-c', inferred.stdout])
            fine = fine and loaded.returncode in (0, 3) and (loaded.returncode == 0 or b'TQ-' in loaded.stderr)
        if not fine:
            print('# ' + path, inferred.returncode, inferred.stderr[:300], open(path, 'rb').read()[:300])
        good = good and fine
    points.point(good, 'hostile bytes: an answer each time')


def late_surprise(points, tquel, folder):
    """What the sample believes is mended by all records."""
    path = os.path.join(folder, 'surprise.csv')
    with open(path, 'w') as file:
        file.write('k,n\n' + ''.join('a,%d\n' % i for i in range(12000)) + 'b,x\n')
    inferred = run(tquel, ['infer', path]).stdout.decode()
    points.point('n = i4' in inferred and 'the first 10000 records' in inferred, 'a sample says that it is one', inferred)
    inferred = run(tquel, ['infer', '--all', path]).stdout.decode()
    points.point('n = text' in inferred and 'all 12001 records' in inferred, '--all looks at all', inferred)
    loaded = run(tquel, ['--format', 'csv', '-c', 'create R from "%s" range of r is R retrieve summary (n = count(r))' % path])
    points.point(counts(loaded) == [12001], 'create R from looks at all where the sample is wrong', loaded.stdout, loaded.stderr)


def several(points, tquel, folder):
    for i in range(3):
        with open(os.path.join(folder, 'part%d.csv' % i), 'w') as file:
            file.write('time,n\n' if i < 2 else 'n,time\n')
            file.write('2026-01-0%d,%d\n' % (i + 1, i) if i < 2 else '%d,2026-01-0%d\n' % (i, i + 1))
    pattern = os.path.join(folder, 'part*.csv')
    loaded = run(tquel, ['--format', 'csv', '-c', 'range of r is file "%s" retrieve summary (n = count(r where r.n >= 1))' % pattern])
    points.point(counts(loaded) == [2], 'several files as one', loaded.stdout, loaded.stderr)
    none = run(tquel, ['-c', 'range of r is file "%s"' % os.path.join(folder, 'nobody*.csv')])
    points.point(none.returncode == 3 and b'TQ-0701' in none.stderr, 'no file has such a name', none.stderr)


def said(points, tquel, folder):
    """What a statement says of the form of a file leaves what it does not say to be found."""
    def load(name, text, *words):
        path = os.path.join(folder, name)
        with open(path, 'w') as file:
            file.write(text)
        return run(tquel, ['--format', 'csv', '-c', 'create R from "%s" %s' % (path, ' '.join(words)) +
                           ' range of r is R retrieve summary (n = count(r), c = max(r.column2))'])
    loaded = load('said.csv', 'a;b;c\nd;e;f\n', 'without header')
    points.point(b'2,e' in loaded.stdout, 'without header: semicolons', loaded.stdout, loaded.stderr)
    loaded = load('said.txt', 'a\tb\tc\nd\te\n', 'without header', 'ragged')
    points.point(b'2,e' in loaded.stdout, 'without header, ragged, by tabs, and not named for it', loaded.stdout, loaded.stderr)
    loaded = load('skipped.txt', 'x "y\nz\na|b|c\nd|e|f\n', 'skipping 2 lines')
    points.point(loaded.returncode == 2 and b'column2' in loaded.stderr and b'b = text' in loaded.stderr, 'skipping lines', loaded.stdout, loaded.stderr)
    followed = run(tquel, ['-c', 'create event R (a = i4) copy R from "-" skipping 2 lines following range of r is R display R'], input=b'x "y\nz\nat,a\n2026-01-01,1\n')
    points.point(b'true,1' in followed.stdout, 'skipping lines of what is followed', followed.stdout, followed.stderr)
    path = os.path.join(folder, 'two-years.csv')
    with open(path, 'w') as file:
        file.write('country,2019,2020\nDE,1,2\n')
    inferred = run(tquel, ['infer', path])
    points.point(b'if it is a header' in inferred.stdout, 'two years may be a header', inferred.stdout)
    path = os.path.join(folder, 'between.csv')
    with open(path, 'w') as file:
        file.write('a,b\nx,y\n# in between, of two\nz,w\n')
    inferred = run(tquel, ['infer', path])
    points.point(b'1 of them begin with #, the first of these is line 3' in inferred.stdout, 'comments between records', inferred.stdout)
    for text, said in (('skipping 0 lines', b'no lines are skipped'), ('skipping 1 rows', b'where lines was expected'),
                       ('skipping 1 line skipping 2 lines', b'a second'), ('skipping 99999999999999999999 lines', b'TQ-')):
        wrong = run(tquel, ['-c', 'create R from "x" ' + text])
        points.point(wrong.returncode == 2 and said in wrong.stderr, text, wrong.stderr)
    loaded = load('traces2.log', '2026-11-28 10:00:00 ERROR failed\nTraceback:\n2026-11-28 10:00:01 INFO on\n', 'skipping errors')
    points.point(b'level' in loaded.stderr and b'TQ-0201' not in loaded.stderr, 'a log with traces', loaded.stdout, loaded.stderr)


CONTINUED = ('create event R (k = text, m = text) copy R from "%s" as lines "(?<at>\\\\d+) (?<k>\\\\w+) (?<m>.*)" continued '
             '(at = "at", k = "k", m = "m") %s')


def continued(points, tquel, folder):
    """Lines that go on with a message: as a script of five lines has them, from a file, in pieces, and followed."""
    random.seed(11)
    good = True
    for i in range(60):
        count = random.randint(1, 30)
        lines_of = [random.choice(['%d w m%d' % (n, n), '%d w ' % n, '\tat x', 'Caused by: "y', '', '  ', '12', 'x' * random.randint(0, 300)]) for n in range(count)]
        text = '\n'.join(lines_of) + random.choice(['\n', ''])
        expected, bad, now = [], 0, None
        for line in text.split('\n')[:-1] if text.endswith('\n') else text.split('\n'):
            found = re.fullmatch(r'(\d+) (\w+) (.*)', line)
            if found:
                expected.append(found[3])
                now = True
            elif now:
                expected[-1] += '\n' + line
            else:
                bad = 1 if line.strip() or bad else bad
        path = os.path.join(folder, 'c%d.log' % i)
        with open(path, 'w') as file:
            file.write(text)
        script = CONTINUED % (path, 'skipping errors') + ' range of r is R retrieve (r.m)'
        loaded = run(tquel, ['--timeline', 'abstract', '--format', 'ndjson', '-c', script])
        found = [json.loads(line)['m'] for line in loaded.stdout.decode().splitlines() if line.startswith('{')]
        pieces = subprocess.Popen([tquel, '--timeline', 'abstract', '--format', 'ndjson', '-c', script.replace(path, '-')], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        at = 0
        while at < len(text):
            size = random.choice([1, 3, 50, 4096])
            pieces.stdin.write(text[at:at + size].encode())
            pieces.stdin.flush()
            at += size
        by_pieces = [json.loads(line)['m'] for line in pieces.communicate()[0].decode().splitlines() if line.startswith('{')]
        if sorted(found) != sorted(expected) or sorted(by_pieces) != sorted(expected):
            good = False
            print('#', repr(text), found, by_pieces, expected, loaded.stderr[:300])
    points.point(good, 'lines that go on, at random')

    path, database = os.path.join(folder, 'live.log'), os.path.join(folder, 'live.db')

    def write(text, mode='a', name=path):
        with open(name, mode) as file:
            file.write(text)
        time.sleep(0.3)
    write('1 a one\n\tmore\n2 a two\n', 'w')
    script = 'create event R (k = text, m = text) ' + CONTINUED[CONTINUED.index('copy'):] % (path, 'following')
    follower = subprocess.Popen([tquel, database, '--timeline', 'abstract', '-q', '-c', script], stderr=subprocess.PIPE)

    def stored():
        shown = run(tquel, [database, '--readonly', '--format', 'ndjson', '-c', 'range of r is R retrieve (r.m)'])
        return [json.loads(line)['m'] for line in shown.stdout.decode().splitlines() if line.startswith('{')]

    def until(wanted):
        end = time.monotonic() + 60
        while stored() != wanted and time.monotonic() < end:
            time.sleep(0.1)
        return stored() == wanted
    # What is certain is shown: all but the last one, which others may follow at its time.
    # It is complete only then, also if it was there at the beginning.
    write('\tof it\n')
    points.point(until(['one\n\tmore']), 'the last one is read after a second, too', stored())
    write('3 b three\n  x\n')
    write('4 b four\n', 'w', path + '.new')
    os.rename(path + '.new', path)
    points.point(until(['one\n\tmore', 'two\n\tof it', 'three\n  x']), 'nothing is lost when it is rotated', stored())
    write('  late\n5 c five\n')
    points.point(until(['one\n\tmore', 'two\n\tof it', 'three\n  x', 'four']), 'what comes too late to go on', stored())
    shown = run(tquel, [database, '--readonly', '--format', 'ndjson', '-c', 'range of r is Rejected retrieve (r.record)'])
    points.point(shown.stdout.count(b'late') == 1, 'is Rejected', shown.stdout, shown.stderr)
    follower.terminate()
    follower.communicate()
    wrong = run(tquel, ['-c', 'create event R (a = i4) copy R from "x" as csv continued (at = 1, a = 2)'])
    points.point(wrong.returncode == 2 and b'only lines by a pattern can be continued' in wrong.stderr, 'only lines', wrong.stderr)


def nothing_half_done(points, tquel, folder):
    """What fails leaves no relation behind."""
    path, database = os.path.join(folder, 'ragged.csv'), os.path.join(folder, 'd.db')
    with open(path, 'w') as file:
        file.write('time,n\n' + ''.join('2026-01-01,%d\n' % i for i in range(12000)) + '1,2,3\n')
    failed = run(tquel, [database, '-c', 'create R from "%s"' % path])
    left = run(tquel, [database, '-c', 'range of r is R'])
    points.point(left.returncode == 2 and b'R' in left.stderr and (failed.returncode == 3 or b'skipping' in failed.stderr) or
                 failed.returncode == 0, 'a ragged file: all or nothing', failed.stderr, left.stderr)


def main():
    tquel = os.path.abspath(sys.argv[1])
    os.environ['TZ'] = 'UTC'
    points = Points()
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            for path in sys.argv[2:]:
                inferred = run(tquel, ['infer', path])
                loaded = run(tquel, ['--format', 'count', '-c', inferred.stdout])
                points.point(inferred.returncode == 0 and loaded.returncode == 0, path, inferred.stderr, loaded.stderr)
        else:
            for name, content, create, rows, conditions, _ in CASES:
                path = os.path.join(folder, name)
                with open(path, 'wb') as file:
                    file.write(content if isinstance(content, bytes) else content.encode())
                check(points, tquel, path, create, rows, conditions)
            hostile(points, tquel, folder)
            late_surprise(points, tquel, folder)
            several(points, tquel, folder)
            said(points, tquel, folder)
            continued(points, tquel, folder)
            nothing_half_done(points, tquel, folder)
    print('1..%d' % points.count)
    sys.exit(points.failed > 0)


main()
