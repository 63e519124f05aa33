/* Analysis: statements as texts against a small world of relations, the bound query as text back.
 *
 * Bound queries are compared as analyse_world.h shows them, errors by number, position and hint.
 * The definition text is tested by its purpose: bound in a later session with other settings it
 * must give the same query. */
#include "tests/unit/analyse_world.h"

#include "engine/base/env.h"

/* ---- names and target lists ---- */

START_TEST(names_and_target_lists) {
  expect("retrieve (e.x)", "event (x:i4=e.x) of e+");
  expect("retrieve (E.X, S = E.S)", "event (x:i4=e.x, S:c20=e.s) of e+");
  expect("retrieve (p.name)", "period (Name:c10=p.Name) of p+");
  expect("retrieve (p.all, y = q.z)", "period (x:i4=p.x, Name:c10=p.Name, y:f4=q.z) of p+ q+");
  expect("retrieve (Abs(e.x))", "event (abs:i8=abs(e.x)) of e+");
  expect("retrieve (COUNT(p))", "period (count:i8=#0) of p #0:i8=count[p]");
  expect("retrieve ()", "period ()");
  expect("retrieve (x = 1)", "period (x:i8=1)");
  expect("retrieve N where p.x = 1", "period () of p+ where (p.x = 1)");
  expect("retrieve (a = Done)", "period (a:text=\"Done\")");
  expect("retrieve unique into N (e.x)", "event (x:i4=e.x) of e+");
  expect("range of g is E with credibility 0 retrieve (g.x)", "event (x:i4=g.x) of g+~");
  expect("range of g is E with credibility 100 retrieve (g.x)", "event (x:i4=g.x) of g+");
  expect("retrieve (t.all) where t.Process = P1",
         "period (Process:c20=t.Process, IterNum:i4=t.IterNum) of t+ where (t.Process = \"P1\")");
}
END_TEST

START_TEST(wrong_names) {
  refuse("retrieve (z.x)", MSG_UNKNOWN_VARIABLE, 11, "range of z");
  refuse("retrieve (e.x) when e ; within -5", MSG_UNKNOWN_VARIABLE, 25, "no sign");
  refuse("retrieve (e3.x)", MSG_UNKNOWN_VARIABLE, 11, "did you mean e");
  refuse("retrieve (p.nme)", MSG_UNKNOWN_DOMAIN, 13, "Name");
  refuse("retrieve (t.IterNun)", MSG_UNKNOWN_DOMAIN, 13, "IterNum");
  refuse("retrieve (n = cuont(e))", MSG_UNKNOWN_FUNCTION, 15, "count");
  refuse("retrieve (e.x, x = 1)", MSG_DUPLICATE_DOMAIN, 16, "another name");
  refuse("retrieve (e.all, p.x)", MSG_DUPLICATE_DOMAIN, 18, "another name");
  refuse("retrieve (at = e.x)", MSG_BAD_NAME, 11, NULL);
  refuse("retrieve (Definite = e.x)", MSG_BAD_NAME, 11, NULL);
  refuse("retrieve (v_N0 = e.x)", MSG_BAD_NAME, 11, NULL);
  refuse("retrieve (x_lo = e.x)", MSG_BAD_NAME, 11, NULL);
  refuse("retrieve tq_x (e.x)", MSG_BAD_NAME, 10, "system");
  refuse("retrieve into SQLITE_a (e.x)", MSG_BAD_NAME, 15, "system");
  refuse("retrieve a_readable (e.x)", MSG_BAD_NAME, 10, NULL);
  refuse("retrieve late (e.x)", MSG_BAD_NAME, 10, NULL);
  refuse("retrieve e (e.x)", MSG_NAME_EXISTS, 10, "destroy E");
  refuse("retrieve (n = e)", MSG_NOT_A_VALUE, 15, "V.domain");
  refuse_many(NET_TIMELINE_ABSTRACT, "retrieve (z.x, y = e.nosuch) where w.x = 1 when v at u",
              MSG_UNKNOWN_VARIABLE, 11, NULL, 5);
}
END_TEST

START_TEST(relation_in_place_of_a_variable) {
  struct world world;
  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  const struct ng_query *query;
  const struct tql_statement *statement = prepare(&world, "retrieve (T.IterNum)");
  ck_assert(analyse(&world, statement, &query) == BASE_USER);
  ck_assert_ptr_nonnull(strstr(world.diags.items[0].hint, "range of T is T"));
  struct tql_name name = {"TT", {1, 1, 1, 3}};
  ck_assert_ptr_null(tql_analyse_relation(&world.analysis, &name));
  ck_assert_int_eq(world.diags.items[1].number, MSG_UNKNOWN_RELATION);
  name.text = "t";
  ck_assert_str_eq(tql_analyse_relation(&world.analysis, &name)->name, "T");
  world_done(&world);
}
END_TEST

START_TEST(bare_names_that_are_domains) {
  struct world world;
  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  declare(&world);
  char *found = bound_text(&world, "retrieve (e.x) where t.Process = process and e.s = Done");
  ck_assert_str_eq(found,
                   "event (x:i4=e.x) of e+ t+ where "
                   "((t.Process = \"process\") and (e.s = \"Done\"))");
  ck_assert_uint_eq(world.diags.count, 1);
  ck_assert_int_eq(world.diags.items[0].number, MSG_NAME_IS_DOMAIN);
  ck_assert_int_eq(world.diags.items[0].severity, BASE_WARNING);
  ck_assert_int_eq(world.diags.items[0].range.first_column, 34);
  ck_assert_uint_eq(world.diags.errors, 0);
  world_done(&world);
}
END_TEST

/* ---- scalars ---- */

START_TEST(arithmetic_and_types) {
  expect("retrieve (a = e.x + 1)", "event (a:i8=(e.x + 1)) of e+");
  expect("retrieve (a = e.x + 1.5)", "event (a:f8=(f8(e.x) + 1.5f)) of e+");
  expect("retrieve (a = e.y * 2)", "event (a:f8=(e.y * 2f)) of e+");
  expect("retrieve (a = -5, b = -e.x, c = -2.5)", "event (a:i8=-5, b:i8=-(e.x), c:f8=-2.5f) of e+");
  expect("retrieve (a = -0.0)", "period (a:f8=0f)");
  expect("retrieve (a = e.x ** 2)", "event (a:i8=(e.x ** 2)) of e+");
  expect("retrieve (a = sqrt(e.x))", "event (a:f8=sqrt(f8(e.x))) of e+");
  expect("retrieve (a = mod(e.x, 3))", "event (a:i8=mod(e.x, 3)) of e+");
  expect("retrieve (a = i2(e.x), b = i4(e.x), c = int8(e.y))",
         "event (a:i2=i2(e.x), b:i4=e.x, c:i8=i8(e.y)) of e+");
  expect("retrieve (a = e.x > 3)", "event (a:bool=(e.x > 3)) of e+");
  expect("retrieve (a = true)", "period (a:bool=true)");
  expect("retrieve (p.x) where p.x / 2 = 1 + 2 * 3",
         "period (x:i4=p.x) of p+ where ((p.x / 2) = (1 + (2 * 3)))");
}
END_TEST

START_TEST(conditions) {
  expect("retrieve (e.x) where e.flag and not e.x = 1.0 or e.s != \"a\"",
         "event (x:i4=e.x) of e+ where ((e.flag and not((e.x = 1f))) or (e.s != \"a\"))");
  expect("retrieve (e.x) where e.flag = true", "event (x:i4=e.x) of e+ where (e.flag = true)");
  expect("retrieve (e.x) where e.who = \"p:1#0\"",
         "event (x:i4=e.x) of e+ where (e.who = name\"p:1#0\")");
  expect("retrieve (e.x) where e.who = e.s", "event (x:i4=e.x) of e+ where (text(e.who) = e.s)");
  expect("retrieve (e.x) where e.s < f.s", "event (x:i4=e.x) of e+ f+ where (e.s < f.s)");
}
END_TEST

START_TEST(wrong_types) {
  refuse("retrieve (e.x) where e.s > 3", MSG_TYPE_MISMATCH, 22, NULL);
  refuse("retrieve (e.x) where e.x = Done", MSG_TYPE_MISMATCH, 22, "V.Done");
  refuse("retrieve (e.x) where e.x", MSG_TYPE_MISMATCH, 22, "comparisons");
  refuse("retrieve (e.x) where e.flag and e.x", MSG_TYPE_MISMATCH, 33, "comparisons");
  refuse("retrieve (e.x) where e.flag < true", MSG_TYPE_MISMATCH, 22, "=");
  refuse("retrieve (a = e.s + 1)", MSG_TYPE_MISMATCH, 15, NULL);
  refuse("retrieve (a = -e.s)", MSG_TYPE_MISMATCH, 15, NULL);
  refuse("retrieve (a = sqrt(e.s))", MSG_TYPE_MISMATCH, 20, NULL);
  refuse("retrieve (a = mod(e.x, 1.5))", MSG_TYPE_MISMATCH, 24, NULL);
  refuse("retrieve (a = sqrt(1, 2))", MSG_ARGUMENTS, 15, NULL);
  refuse("retrieve (a = sqrt())", MSG_ARGUMENTS, 15, NULL);
  refuse("retrieve (a = sqrt(e.x by e.y))", MSG_ARGUMENTS, 15, NULL);
  refuse("retrieve (a = concat(e.s, e.x))", MSG_TYPE_MISMATCH, 27, NULL);
  refuse("retrieve (a = e.x) where e.s = \"[a\"", MSG_BAD_PATTERN, 32, NULL);
  refuse("retrieve (e.x) where p", MSG_NOT_A_VALUE, 22, "when");
  refuse("retrieve (e.x) where e ; f", MSG_NOT_A_VALUE, 22, "when");
  refuse("retrieve (e.x) where p.start > 2.5", MSG_TYPE_MISMATCH, 22, "chronon");
  refuse("retrieve (e.x) where (p overlap q)", MSG_NOT_A_VALUE, 22, "when");
}
END_TEST

START_TEST(temporal_values) {
  expect("retrieve (a = duration(p))", "period (a:temporal=duration(p)) of p+");
  expect("retrieve (a = duration(p) * 2 + 1)",
         "period (a:temporal=((duration(p) * temporal(2)) + temporal(1))) of p+");
  expect("retrieve (p.x) where duration(p) > 100",
         "period (x:i4=p.x) of p+ where (duration(p) > temporal(100))");
  expect("retrieve (a = duration(p) / duration(q))",
         "period (a:temporal=(duration(p) / duration(q))) of p+ q+");
  expect("retrieve (a = d.v * d.v)", "period (a:temporal=(d.v * d.v)) of d+");
  expect("retrieve (a = (duration(p) - duration(q)) * duration(p))",
         "period (a:temporal=((duration(p) - duration(q)) * duration(p))) of p+ q+");
  expect("retrieve (a = (1 / duration(p)) * duration(q))",
         "period (a:temporal=((temporal(1) / duration(p)) * duration(q))) of p+ q+");
  expect("retrieve (a = duration(p) * p.x * duration(p))", /* p.x may be 0: the run decides */
         "period (a:temporal=((duration(p) * temporal(p.x)) * duration(p))) of p+");
  expect("retrieve (a = duration(p) * 0 * duration(p))",
         "period (a:temporal=((duration(p) * temporal(0)) * duration(p))) of p+");
  refuse("retrieve (a = duration(p) * duration(p))", MSG_TEMPORAL_FORM, 15, "numbers");
  refuse("retrieve (a = (duration(p) + 1) * (3 * duration(q) - 2))", MSG_TEMPORAL_FORM, 15, NULL);
  refuse("retrieve (a = duration(p) + 1 / duration(q))", MSG_TEMPORAL_FORM, 15, NULL);
  refuse("retrieve (a = 1 / duration(p) / duration(p))", MSG_TEMPORAL_FORM, 15, NULL);
  refuse("retrieve (a = duration(p) ** 2)", MSG_TYPE_MISMATCH, 15, NULL);
  refuse("retrieve (a = duration(p) > 5)", MSG_TEMPORAL_FORM, 15, "where");
  refuse("retrieve (a = duration(e))", MSG_DURATION_OF_EVENT, 24, "span");
  refuse("retrieve (a = duration(e ; f))", MSG_ARGUMENTS, 24, "span");
  refuse("retrieve (a = abs(duration(p)))", MSG_TYPE_MISMATCH, 19, NULL);
}
END_TEST

START_TEST(values_from_time) {
  expect("retrieve (a = span(e ; f), e.x) at e",
         "event (a:duration=span((e ; f)), x:i4=e.x) of e+ f+ at e");
  expect("retrieve (a = span_lo(p), b = span_hi((p , q)))",
         "period (a:duration=span_lo(p), b:duration=span_hi((p , q))) of p+ q+");
  expect("retrieve (a = chronon(p.start), b = chronon_hi(e))",
         "event (a:i8=chronon(p.start), b:i8=chronon_hi(e)) of p+ e+");
  expect("retrieve (e.x) where span(e ; f) < 10 when e ; f at f",
         "event (x:i4=e.x) of e+ f+ where (span((e ; f)) < 10) when {(e ; f)} at f");
  expect_real("retrieve (e.x) where span(e ; f) < 10 ms at f",
              "event (x:i4=e.x) of e+ f+ where (span((e ; f)) < 10000000) at f");
  refuse("retrieve (e.x) where span(e ; f) < 10 ms at f", MSG_BAD_DURATION, 36, "integers");
  refuse("retrieve (a = chronon(p))", MSG_NOT_AN_EVENT, 23, ".start");
  refuse("retrieve (a = span(p , q))", MSG_ARGUMENTS, 15, "parentheses");
  refuse("retrieve (a = span((e , f)))", MSG_TWO_EVENTS, 20, "extend");
  refuse("retrieve (a = span(e | f))", MSG_CHOICE_PLACE, 20, NULL);
  refuse("retrieve (a = span(e.x))", MSG_NOT_A_TIME, 20, NULL);
}
END_TEST

/* ---- temporal expressions ---- */

START_TEST(when_clauses) {
  expect("retrieve (p.x) when p , q", "period (x:i4=p.x) of p+ q+ when {(p , q)}");
  expect("retrieve (e.x) when e , p", "event (x:i4=e.x) of e+ p+ when {(e , p)!}");
  expect("retrieve (p.x) when p.start ; q.start at q.start",
         "event (x:i4=p.x) of p+ q+ when {(p.start ; q.start)} at q.start");
  expect("retrieve (e.x) when (e ; f | f ; e) and not e2 at e",
         "event (x:i4=e.x) of e+ f+ e2+ when ({((e ; f) | (f ; e))} and not({e2})) at e");
  expect("retrieve (p.x) when p precede q or p equal q or p contain q",
         "period (x:i4=p.x) of p+ q+ when "
         "(({(p precede q)} or {(p equal q)}) or {(p contain q)})");
  expect("retrieve (p.x) when p ; within 5 q", "period (x:i4=p.x) of p+ q+ when {(p ;<5> q)}");
  expect("retrieve (p.x) when p extend q , e",
         "event (x:i4=p.x) of p+ q+ e+ when {((p extend q) , e)!}");
  expect("retrieve (e.x) when e.time , f at e", "event (x:i4=e.x) of e+ f+ when {(e , f)!} at e");
  expect("retrieve (e.x) when e.stop ; p", "event (x:i4=e.x) of e+ p+ when {(e.stop ; p)}");
  expect("set parallel coverage retrieve (e.x) when (e ; f) , p overlap q at e",
         "event (x:i4=e.x) of e+ f+ p+ q+ when {((e ; f) ,, (p , q))} at e");
  expect("set parallel coverage retrieve (e.x) start (e , f).start stop (e , f).stop",
         "period (x:i4=e.x) of e+ f+ start (e ,, f).start stop (e ,, f).stop");
}
END_TEST

START_TEST(constants_of_time) {
  expect("retrieve (p.x) when p , 5 at 7", "event (x:i4=p.x) of p+ when {(p , @5)!} at @7");
  expect("retrieve (p.x) start beginning stop forever",
         "period (x:i4=p.x) of p+ start @beginning stop @forever");
  expect("retrieve (x = 1) at \"12\"", "event (x:i8=1) at @12");
  expect("retrieve (x = 1) at -3", "event (x:i8=1) at @-3");
  expect("set unit 10 retrieve (x = 1) at 7 when p ; within 5 q",
         "event (x:i8=1) of p+ q+ when {(p ;<50> q)} at @70");
  expect("range of now is E range of forever is P retrieve (now.x) when now , forever at now",
         "event (x:i4=now.x) of now+ forever+ when {(now , forever)!} at now");
  expect_real("retrieve (x = 1) at 5", "event (x:i8=1) at @1795172523005000000");
  expect_real("retrieve (x = 1) at now", "event (x:i8=1) at @1795172523000000000");
  expect_real("retrieve (x = 1) at \"1970-01-01T00:00:01Z\"", "event (x:i8=1) at @1000000000");
  expect_real("retrieve (x = 1) at \"11:02:04\"", "event (x:i8=1) at @1795172524000000000");
  expect_real("retrieve (p.x) when p ; within 5 s q",
              "period (x:i4=p.x) of p+ q+ when {(p ;<5000000000> q)}");
  expect_real("retrieve (p.x) when p ; within 5 q",
              "period (x:i4=p.x) of p+ q+ when {(p ;<5000000> q)}");
}
END_TEST

START_TEST(wrong_times) {
  refuse_real("retrieve (p.x) when p , \"tomorrow\"", MSG_BAD_TIME, 25, "ISO");
  refuse("retrieve (p.x) when p , \"2026-01-01\"", MSG_BAD_TIME, 25, "abstract");
  refuse("retrieve (p.x) when p , 9223372036854775807", MSG_BAD_TIME, 25, NULL);
  refuse_real("retrieve (p.x) at 9223372036854775", MSG_BAD_TIME, 19, NULL);
  refuse_real("retrieve (p.x) when p ; 5 s", MSG_BAD_DURATION, 25, "within");
  refuse("retrieve (p.x) when p ; within 5 s q", MSG_BAD_DURATION, 32, "integers");
  refuse_real("retrieve (p.x) at 5 s", MSG_BAD_DURATION, 19, NULL);
  refuse("retrieve (p.x) at Monday", MSG_UNKNOWN_VARIABLE, 19, NULL);
  refuse("retrieve (p.x) at p", MSG_NOT_AN_EVENT, 19, ".start");
  refuse("retrieve (p.x) start p stop 5", MSG_NOT_AN_EVENT, 22, ".start");
  refuse("retrieve (p.x) at e ; f", MSG_NOT_AN_EVENT, 19, NULL);
  refuse("retrieve (p.x) at p.time", MSG_NOT_AN_EVENT, 19, ".stop");
  refuse("retrieve (p.x) at (5).time", MSG_NOT_AN_EVENT, 19, NULL);
  refuse("retrieve (p.x) at z.time", MSG_UNKNOWN_VARIABLE, 19, NULL);
  refuse("retrieve (p.x) when (e , f).time", MSG_NOT_AN_EVENT, 21, NULL);
  refuse("retrieve (p.x) at e | f", MSG_CHOICE_PLACE, 19, "derived");
  refuse("retrieve (p.x) at e , f", MSG_TWO_EVENTS, 19, "extend");
  refuse("retrieve (p.x) at (p , (e , f)).start", MSG_TWO_EVENTS, 24, NULL);
  refuse("retrieve (p.x) when (p precede q) ; t", MSG_CONDITION_PLACE, 21, "and");
  refuse("retrieve (p.x) when (p and q).start", MSG_CONDITION_PLACE, 21, NULL);
  refuse("retrieve (p.x) at p precede q", MSG_CONDITION_PLACE, 19, NULL);
  refuse("retrieve (p.x) when p.x = 3", MSG_NOT_A_TIME, 21, "where");
  refuse("retrieve (p.x) when p , q and p.x > 1", MSG_NOT_A_TIME, 31, "where");
  refuse("retrieve (p.x) at p.x", MSG_NOT_A_TIME, 19, NULL);
  refuse("retrieve (p.x) at p.start * 5", MSG_NOT_A_TIME, 19, NULL);
  refuse("retrieve (p.x) at p + 5", MSG_NOT_AN_EVENT, 19, ".start");
  refuse("retrieve (p.x) at p.stop - p.start", MSG_BAD_DURATION, 28, "span");
  refuse("retrieve (p.x) at e when (e , f).start ; p", MSG_TWO_EVENTS, 26, NULL);
  refuse("retrieve (p.x) when count(p) ; q", MSG_NOT_A_TIME, 21, NULL);
}
END_TEST

/* ---- clauses against each other ---- */

START_TEST(result_classes) {
  expect("retrieve (e.x, a = p.x)", "event (x:i4=e.x, a:i4=p.x) of e+ p+");
  expect("retrieve (e.x) start p.start stop p.stop",
         "period (x:i4=e.x) of e+ p+ start p.start stop p.stop");
  expect("retrieve (p.x) start q.start", "period (x:i4=p.x) of p+ q+ start q.start");
  expect("retrieve (p.x) at p.start", "event (x:i4=p.x) of p+ at p.start");
  expect("retrieve (e.x, a = f.x)", "event (x:i4=e.x, a:i8=f.x) of e+ f+");
  expect("retrieve (a = count(e))", "period (a:i8=#0) of e #0:i8=count/c[e]");
  expect("retrieve (f.x, a = count(e))", "event (x:i8=f.x, a:i8=#0) of f+ e #0:i8=count/c[e]");
  expect("retrieve (a = count(e)) at f", "event (a:i8=#0) of e f+ #0:i8=count/c[e] at f");
  expect("retrieve (e.x) start e stop f when e ; f",
         "period (x:i4=e.x) of e+ f+ when {(e ; f)} start e stop f");
  expect("retrieve (s.v)", "period (v:i1=s.v) of s+");
  expect("retrieve (p.x) valid from p.start to q.stop",
         "period (x:i4=p.x) of p+ q+ start p.start stop q.stop");
  refuse("retrieve (e.x, y = f.x) when e ; f", MSG_CLAUSES, 25, "add at");
  refuse("retrieve (e.x) start e", MSG_CLAUSES, 16, "both");
  refuse("retrieve (p.x) stop 5 when e , p", MSG_CLAUSES, 16, "both");
  refuse("retrieve (e.x) at e start 1", MSG_CLAUSES, 21, "one kind");
  refuse("retrieve (e.x) stop 1 at e", MSG_CLAUSES, 23, "one kind");
  refuse("retrieve (e.x) valid at e stop 4", MSG_CLAUSES, 27, "one kind");
}
END_TEST

/* ---- aggregates ---- */

START_TEST(aggregates) {
  expect("retrieve (a = count(p.Name where p.x = 1))",
         "period (a:i8=#0) of p #0:i8=count[p where (p.x = 1)]");
  expect("retrieve (p.Name, m = min(p.x by p.Name))",
         "period (Name:c10=p.Name, m:i4=#0) of p+ #0:i4=min[p p.x by p.Name]");
  expect("retrieve (a = sum(p.x), b = sum(q.z), c = sumc(p.x))",
         "period (a:i8=#0, b:f8=#1, c:i8=#2) of p q #0:i8=sum[p p.x] #1:f8=sum[q q.z] "
         "#2:i8=sum/c[p p.x]");
  expect("retrieve (a = avg(p.x), b = avg(e.x))",
         "period (a:f8=#0, b:f8=#1) of p e #0:f8=avg[p p.x] #1:f8=avg/c[e e.x]");
  expect("retrieve (a = avgc(p) * 100)",
         "period (a:temporal=(#0 * temporal(100))) of p #0:temporal=avgc/c[p]");
  expect("retrieve (a = AvgC(e.x), b = avgc(e))",
         "period (a:f8=#0, b:f8=#1) of e #0:f8=avgc/c[e e.x] #1:f8=avgc/c[e]");
  expect("retrieve (a = any(p where p.x > 1), b = anyc(p), c = countc(p))",
         "period (a:i8=#0, b:i8=#1, c:i8=#2) of p #0:i8=any[p where (p.x > 1)] "
         "#1:i8=any/c[p] #2:i8=count/c[p]");
  expect("retrieve (a = sum(duration(p)))",
         "period (a:temporal=#0) of p #0:temporal=sum[p duration(p)]");
  expect("retrieve (a = max(e.s), b = maxc(p.x + 1))",
         "period (a:c20=#0, b:i8=#1) of e p #0:c20=max/c[e e.s] #1:i8=max/c[p (p.x + 1)]");
  expect("retrieve (a = count(p) + 1) where count(p) > 2",
         "period (a:i8=(#0 + 1)) of p #0:i8=count[p] where (#0 > 2)");
  expect("retrieve (a = countU(p.x), b = sumu(e.y))",
         "period (a:i8=#0, b:f8=#1) of p e #0:i8=count/u[p p.x] #1:f8=sum/c/u[e e.y]");
  expect("retrieve (a = avg(span(p) by p.x, p.Name))",
         "period (a:fduration=#0) of p #0:fduration=avg[p span(p) by p.x, p.Name]");
}
END_TEST

START_TEST(later_aggregates) {
  expect(
      "retrieve (a = count(p for ever), b = count(e for each instant), c = sumu(p.x for each 5))",
      "period (a:i8=#0, b:i8=#1, c:i8=#2) of p e #0:i8=count/c[p] #1:i8=count[e] "
      "#2:i8=sum/u/5[p p.x]");
  expect("retrieve (a = first(p.x), b = last(e.s), c = stdev(p.x), d = varts(e.x), f = avgti(e.x))",
         "period (a:i4=#0, b:c20=#1, c:f8=#2, d:f8=#3, f:f8=#4) of p e #0:i4=first[p p.x] "
         "#1:c20=last/c[e e.s] #2:f8=stdev[p p.x] #3:f8=varts/c[e] #4:f8=avgti/c[e e.x]");
  expect("retrieve (a = extendc(e.x by e.s where e.y > 1))",
         "period (a:i4=#0) of e #0:i4=extendc/c[e e.x by e.s where (e.y > 1f)]");
  expect("retrieve (a = count(p when p precede 5 and not (p , 3)))",
         "period (a:i8=#0) of p #0:i8=count[p when ({(p precede @5)} and not({(p , @3)!}))]");
  expect("retrieve (a = chronon(earliest(e for ever))) when latest(p by p.x).stop ; 9",
         "period (a:i8=chronon(#0)) of e p #0:instant=earliest/c[e] #1:instant=latest[p by p.x] "
         "when {(#1.stop ; @9)}");
}
END_TEST

START_TEST(wrong_aggregates) {
  refuse("retrieve (a = max(count(p by p.x)))", MSG_NESTED_AGGREGATE, 19, "derived relation");
  refuse("retrieve (a = count(p where count(p) > 1))", MSG_NESTED_AGGREGATE, 29, NULL);
  refuse("retrieve (a = count(p where q.x = 1))", MSG_AGGREGATE_VARIABLE, 29, NULL);
  refuse("retrieve (a = sum(p.x + q.x))", MSG_AGGREGATE_VARIABLE, 25, NULL);
  refuse("retrieve (a = count(p.x by q.x))", MSG_AGGREGATE_VARIABLE, 28, NULL);
  refuse("retrieve (a = sum(p))", MSG_ARGUMENTS, 19, "V.domain");
  refuse("retrieve (a = sum(1))", MSG_ARGUMENTS, 19, NULL);
  refuse("retrieve (a = count(nosuch))", MSG_UNKNOWN_VARIABLE, 21, NULL);
  refuse("retrieve (a = count(p, q))", MSG_ARGUMENTS, 15, NULL);
  refuse("retrieve (a = count())", MSG_ARGUMENTS, 15, NULL);
  refuse("retrieve (a = sum(e.s))", MSG_TYPE_MISMATCH, 19, NULL);
  refuse("retrieve (a = max(e.flag))", MSG_TYPE_MISMATCH, 19, NULL);
  refuse("retrieve (a = avgc(duration(p)))", MSG_TYPE_MISMATCH, 20, NULL);
  refuse("retrieve (a = count(p by Name))", MSG_ARGUMENTS, 26, "p.Name");
  refuse("retrieve (a = count(d by d.v))", MSG_TYPE_MISMATCH, 26, NULL);
  refuse("retrieve (a = count(p where p.x))", MSG_TYPE_MISMATCH, 29, NULL);
  refuse("retrieve (a = extendc(p.x))", MSG_EXTEND_PERIOD, 23, NULL);
  refuse("retrieve (a = extendc(e))", MSG_ARGUMENTS, 23, "V.domain");
  refuse("retrieve (a = countc(p for ever))", MSG_AGGREGATE_TAIL, 15, NULL);
  refuse("retrieve (a = avgc(p.x for each 3))", MSG_AGGREGATE_TAIL, 15, NULL);
  refuse("retrieve (a = count(p for each 0))", MSG_AGGREGATE_TAIL, 32, "instant");
  refuse("retrieve (a = count(p when q , 5))", MSG_AGGREGATE_VARIABLE, 28, NULL);
  refuse("retrieve (a = count(p when latest(p) , 5))", MSG_NESTED_AGGREGATE, 28, NULL);
  refuse("retrieve (a = earliest(p))", MSG_AGGREGATE_IS_TIME, 15, "chronon");
  refuse("retrieve (a = chronon(latest(p.x)))", MSG_ARGUMENTS, 30, "latest(V");
  refuse("retrieve (a = chronon(latest(p)))", MSG_NOT_AN_EVENT, 23, NULL);
  refuse("retrieve (p.x) when count(p) , p", MSG_NOT_A_TIME, 21, NULL);
  refuse("retrieve (a = sumc(duration(p)))", MSG_AGGREGATE_TEMPORAL, 20, "sum(duration");
  refuse("retrieve (a = sum(duration(p) for each 5))", MSG_AGGREGATE_TEMPORAL, 19, NULL);
  refuse("retrieve (a = countu(duration(p)))", MSG_AGGREGATE_TEMPORAL, 22, NULL);
  refuse("retrieve (a = countu(p))", MSG_ARGUMENTS, 22, "V.domain");
  refuse("retrieve (a = stdev(p.Name))", MSG_TYPE_MISMATCH, 21, NULL);
  refuse("retrieve (a = stdev(p))", MSG_ARGUMENTS, 21, NULL);
}
END_TEST

/* After a failed aggregate its variable binds the others no longer. */
START_TEST(an_error_inside_an_aggregate_stays_there) {
  refuse_many(NET_TIMELINE_ABSTRACT, "retrieve (a = sum(p.nosuch), b = q.x + e.x)",
              MSG_UNKNOWN_DOMAIN, 21, NULL, 1);
  refuse_many(NET_TIMELINE_ABSTRACT, "retrieve (a = sum(p.x where p.s = 1), b = count(q))",
              MSG_UNKNOWN_DOMAIN, 31, NULL, 1);
}
END_TEST

/* ---- settings ---- */

START_TEST(origins_and_texts) {
  struct world world;
  const struct ng_query *query;
  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  declare(&world);
  ck_assert(analyse(&world, prepare(&world, "Retrieve  N(e.x)"), &query) == BASE_OK);
  ck_assert(query->origin_given && query->origin == 0 && !query->averaging_origin_given);
  ck_assert_str_eq(query->name, "N");
  ck_assert_str_eq(query->text, "retrieve N (e.x)");
  ck_assert(analyse(&world, prepare(&world, "set origin 7 set averaging origin -9 retrieve (e.x)"),
                    &query) == BASE_OK);
  ck_assert(query->origin_given && query->origin == 7);
  ck_assert(query->averaging_origin_given && query->averaging_origin == -9);
  ck_assert_ptr_null(query->name);
  ck_assert(analyse(&world, prepare(&world, "retrieve coalesced (e.x)"), &query) == BASE_OK);
  ck_assert(query->coalesced);
  world_done(&world);

  world_init(&world, NET_TIMELINE_REAL, NOW);
  declare(&world);
  ck_assert(analyse(&world, prepare(&world, "retrieve (e.x)"), &query) == BASE_OK);
  ck_assert(!query->origin_given && !query->coalesced);
  ck_assert(query->source == &world.source && query->range.first_line == 1);
  world_done(&world);
}
END_TEST

START_TEST(times_and_durations_alone) {
  struct world world;
  net_chronon time = -4711;
  int64_t span = -4711;
  world_init(&world, NET_TIMELINE_REAL, NOW);
  const struct tql_expr *expr = prepare(&world, "checkpoint 5 s")->expr;
  ck_assert(tql_analyse_time(&world.analysis, expr, false, &time) == BASE_OK);
  ck_assert_int_eq(time, NOW + 5 * SECOND);
  ck_assert(tql_analyse_duration(&world.analysis, expr, &span) == BASE_OK);
  ck_assert_int_eq(span, 5 * SECOND);
  ck_assert(tql_analyse_time(&world.analysis, prepare(&world, "checkpoint forever")->expr, false,
                             &time) == BASE_OK);
  ck_assert_int_eq(time, NET_FOREVER);
  ck_assert(tql_analyse_time(&world.analysis, prepare(&world, "checkpoint \"now\"")->expr, false,
                             &time) == BASE_OK);
  ck_assert_int_eq(time, NOW);
  expr = prepare(&world, "checkpoint 5")->expr;
  ck_assert(tql_analyse_time(&world.analysis, expr, true, &time) == BASE_OK);
  ck_assert_int_eq(time, NOW + 5000000);
  time = -4711;
  ck_assert(tql_analyse_time(&world.analysis, expr, false, &time) == BASE_USER);
  ck_assert_int_eq(world.diags.items[0].number, MSG_BARE_INTEGER_TIME);
  ck_assert_int_eq(world.diags.items[0].range.first_column, 12);
  ck_assert_ptr_nonnull(world.diags.items[0].hint);
  ck_assert_int_eq(time, -4711);
  ck_assert(tql_analyse_time(&world.analysis, prepare(&world, "checkpoint tomorrow")->expr, false,
                             &time) == BASE_USER);
  ck_assert_int_eq(world.diags.items[1].number, MSG_BAD_TIME);
  ck_assert(tql_analyse_duration(&world.analysis, prepare(&world, "set durable every -5 s")->value,
                                 &span) == BASE_USER);
  world_done(&world);

  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  expr = prepare(&world, "checkpoint 5")->expr;
  ck_assert(tql_analyse_time(&world.analysis, expr, false, &time) == BASE_OK);
  ck_assert_int_eq(time, 5);
  expr = prepare(&world, "checkpoint 5 s")->expr;
  ck_assert(tql_analyse_time(&world.analysis, expr, false, &time) == BASE_USER);
  ck_assert_int_eq(world.diags.items[0].number, MSG_BAD_DURATION);
  world_done(&world);
}
END_TEST

/* ---- append ---- */

START_TEST(append_constants) {
  expect("append to E (x = 1, s = abc) at 5",
         "event (x:i4=1, y:f8=0f, s:c20=\"abc\", flag:bool=false, who:name=name\"\") at @5");
  expect("append F (X = -3) at forever", "event (x:i8=-3, s:text=\"\") at @forever");
  expect("append to E (y = 2, flag = true, who = \"a:b#1\") at 5",
         "event (x:i4=0, y:f8=2f, s:c20=\"\", flag:bool=true, who:name=name\"a:b#1\") at @5");
  expect("append to P (x = 1) start 5", "period (x:i4=1, Name:c10=\"\") start @5 stop @forever");
  expect("append to P (x = 1) valid from 5 to 9",
         "period (x:i4=1, Name:c10=\"\") start @5 stop @9");
  expect("append to T (Process = A) at 5", "event (Process:c20=\"A\", IterNum:i4=0) at @5");
  expect("append to S (v = 127)", "period (k:text=\"\", v:i1=127) start @beginning stop @forever");
  expect_real("append to F () at 5 s", "event (x:i8=0, s:text=\"\") at @1795172528000000000");
  expect_real("append to F () at now", "event (x:i8=0, s:text=\"\") at @1795172523000000000");
}
END_TEST

START_TEST(append_with_variables) {
  expect("append to F (e.x, s = e.s) where e.x > 1",
         "event (x:i8=e.x, s:text=e.s) of e+ where (e.x > 1)");
  expect("append to E (x = f.x)",
         "event (x:i4=i4(f.x), y:f8=0f, s:c20=\"\", flag:bool=false, who:name=name\"\") of f+");
  expect("append to E (y = e.x, s = e.who) at e",
         "event (x:i4=0, y:f8=f8(e.x), s:c20=text(e.who), flag:bool=false, who:name=name\"\") "
         "of e+ at e");
  expect("append to P (p.all)", "period (x:i4=p.x, Name:c10=p.Name) of p+");
  expect("append to T (t.all) at t.start",
         "event (Process:c20=t.Process, IterNum:i4=t.IterNum) of t+ at t.start");
  expect("append to S (v = q.x)",
         "period (k:text=\"\", v:i1=i1(q.x)) of q+ start @beginning stop @forever");
}
END_TEST

START_TEST(wrong_appends) {
  refuse("append to Nosuch (x = 1) at 5", MSG_UNKNOWN_RELATION, 11, NULL);
  refuse("append to D (v = 1) start 5", MSG_DERIVED_WRITE, 11, "derived from");
  refuse("append to E (nosuch = 1) at 5", MSG_UNKNOWN_DOMAIN, 14, NULL);
  refuse("append to E (x = 1, X = 2) at 5", MSG_DUPLICATE_DOMAIN, 21, NULL);
  refuse("append to E (x = 1)", MSG_CLAUSES, 11, "at T");
  refuse("append to E (x = 1) start 5", MSG_CLAUSES, 21, "at T");
  refuse("append to E (x = p.x)", MSG_CLAUSES, 11, "V.start");
  refuse("append to P (x = 1) at 5", MSG_CLAUSES, 21, "start T stop T");
  refuse("append to P (x = 1)", MSG_CLAUSES, 11, "start T");
  refuse("append to P (x = 1) stop 7", MSG_CLAUSES, 21, "start T");
  refuse("append to P (x = 1) start 7 stop 7", MSG_CLAUSES, 34, NULL);
  refuse("append to P (x = e.x)", MSG_CLAUSES, 11, "start and stop");
  refuse("append to S (v = 1) at 5", MSG_CLAUSES, 21, "period relation");
  refuse("append to S (v = 128)", MSG_VALUE_RANGE, 18, NULL);
  refuse("append to P (Name = \"eleven char\") start 1", MSG_VALUE_RANGE, 21, NULL);
  refuse("append to E (x = 1.5) at 5", MSG_TYPE_MISMATCH, 18, "i8(");
  refuse("append to E (x = \"a\") at 5", MSG_TYPE_MISMATCH, 18, NULL);
  refuse("append to E (flag = 1) at 5", MSG_TYPE_MISMATCH, 21, NULL);
  refuse_real("append to E (x = 1) at 5", MSG_BARE_INTEGER_TIME, 24, "unit");
  refuse_real("append to P (x = 1) start 5 stop \"2026-01-01\"", MSG_BARE_INTEGER_TIME, 27, "unit");
  refuse("append to E (x = 1) at 5 s", MSG_BAD_DURATION, 24, NULL);
}
END_TEST

/* ---- create ---- */

static const struct ng_relation *create(struct world *world, const char *text) {
  const struct ng_relation *relation = NULL;
  enum base_status status = tql_analyse_create(&world->analysis, prepare(world, text), &relation);
  ck_assert_msg((status == BASE_OK) == (relation != NULL), "'%s'", text);
  ck_assert_msg(status == BASE_OK || world->diags.errors > 0, "'%s'", text);
  return relation;
}

START_TEST(create_relations) {
  struct world world;
  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  const struct ng_relation *relation = create(&world, "create event New (x = i4, s = C20)");
  ck_assert_str_eq(relation->name, "New");
  ck_assert(relation->kind == NG_REL_EVENT && relation->layout->tuple_class == NET_EVENT);
  ck_assert(!relation->records && relation->by.count == 0 && relation->layout->field_count == 2);
  ck_assert_int_eq(relation->layout->fields[1].type.width, 20);
  relation = create(&world, "create traced Tr (p = text, n = i8) by P");
  ck_assert(relation->kind == NG_REL_TRACED && relation->by.count == 1 &&
            relation->by.fields[0] == 0);
  ck_assert(relation->layout->tuple_class == NET_PERIOD);
  ck_assert(relation->records->tuple_class == NET_EVENT && relation->records->field_count == 2);
  relation = create(&world, "create Snap (k = text)");
  ck_assert(relation->kind == NG_REL_SNAPSHOT && relation->layout->tuple_class == NET_PERIOD);
  relation = create(&world, "create sampled Sa (a = f4) by a");
  ck_assert(relation->kind == NG_REL_SAMPLED && relation->records);
  relation = create(&world, "create period Pe ()");
  ck_assert_uint_eq(relation->layout->field_count, 0);
  ck_assert_uint_eq(world.diags.count, 0);
  world_done(&world);
}
END_TEST

START_TEST(wrong_creates) {
  static const struct {
    const char *text;
    enum base_message number;
    int column;
  } cases[] = {
      {"create event e (x = i4)", MSG_NAME_EXISTS, 14},
      {"create event Clock (x = i4)", MSG_BAD_NAME, 14},
      {"create event New (`at` = i4)", MSG_BAD_NAME, 19},
      {"create event New (x_hi = i4)", MSG_BAD_NAME, 19},
      {"create event New (x = i4, X = i8)", MSG_DUPLICATE_DOMAIN, 27},
      {"create event New (x = integer)", MSG_UNKNOWN_TYPE, 23},
      {"create event New (x = temporal)", MSG_UNKNOWN_TYPE, 23},
      {"create event New (x = i4) by x", MSG_CLAUSES, 30},
      {"create traced New (proc = i4) by prok", MSG_UNKNOWN_DOMAIN, 34},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct world world;
    world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
    ck_assert_ptr_null(create(&world, cases[i].text));
    const struct base_diag *diag = &world.diags.items[0];
    ck_assert_msg(diag->number == cases[i].number && diag->range.first_column == cases[i].column,
                  "'%s': TQ-%04d at column %d", cases[i].text, (int)diag->number,
                  diag->range.first_column);
    world_done(&world);
  }
}
END_TEST

/* ---- definitions ---- */

/* TEXT bound now, and its definition text bound in a session of another day with other settings. */
static void expect_stable(enum net_timeline timeline, const char *text, const char *contains) {
  struct world first, later;
  const struct ng_query *query;
  world_init(&first, timeline, NOW);
  declare(&first);
  char *bound = bound_text(&first, text);
  const struct tql_statement *statement = prepare(&first, text);
  ck_assert(analyse(&first, statement, &query) == BASE_OK);
  char *definition = tql_definition_text(first.arena, &first.scope, statement, query);
  if (contains) ck_assert_msg(strstr(definition, contains), "'%s' gives\n%s", text, definition);

  world_init(&later, timeline, NOW + 12345 * SECOND);
  later.analysis.kept = true;
  char *again = bound_text(&later, definition);
  ck_assert_msg(!strcmp(bound, again), "'%s'\n is  '%s'\n but '%s'\n by  %s", text, bound, again,
                definition);
  ck_assert_uint_eq(later.diags.count, 0);
  /* A definition of the definition is the same text: it is canonical. */
  statement = prepare(&later, definition);
  ck_assert(analyse(&later, statement, &query) == BASE_OK);
  ck_assert_str_eq(tql_definition_text(later.arena, &later.scope, statement, query), definition);
  ck_assert(query->origin_given == (first.settings.origin_given || timeline != NET_TIMELINE_REAL));
  ck_assert_int_eq(query->origin, first.settings.origin);
  ck_assert_int_eq(query->averaging_origin, first.settings.averaging_origin);
  ck_assert(query->unbounded_allowed == first.settings.unbounded_allowed);
  ck_assert(query->losses_ignored == first.settings.losses_ignored);
  world_done(&first);
  world_done(&later);
}

START_TEST(definitions) {
  static const char *const texts[] = {
      "retrieve N (e.x)",
      "retrieve N (p.all, a = -3 - 2 * (1 + p.x)) where p.Name = Done or p.Name = \"a\\\"b\"",
      "retrieve N (e.x) when (e ; f | f ; e) at e",
      "retrieve N (p.x) when p , 5 at 7",
      "retrieve N (p.x) when p , -5 at forever",
      "retrieve N (p.x) start beginning stop (p , 8).stop",
      "set unit 10 retrieve N (p.x) when p ; within 5 q and p ; 7",
      "retrieve N (a = count(e where e.s = x by e.s), e.s, b = avgc(p) * 100)",
      "retrieve N (a = span((p , q)), b = chronon(5)) when p , q",
      "set parallel coverage retrieve N (p.x) when p , q",
      "set origin -7 set averaging origin 12 retrieve N (a = count(p))",
      "range of g is E with credibility 0 retrieve coalesced N (g.x)",
      "range of now is P retrieve N (now.x) when now , 5",
      "range of `set` is P retrieve N (`set`.x, `my name` = 1) valid at `set`.start",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    expect_stable(NET_TIMELINE_ABSTRACT, texts[i], NULL);
    if (!strstr(texts[i], "set unit") && !strstr(texts[i], "set origin"))
      expect_stable(NET_TIMELINE_REAL, texts[i], NULL);
  }
  expect_stable(NET_TIMELINE_REAL, "retrieve N (p.x) when p , \"3:00pm\"", "2026-11-20T15:00:00Z");
  expect_stable(NET_TIMELINE_REAL, "retrieve N (p.x) at now", "at \"2026-11-20T11:02:03Z\"");
  expect_stable(NET_TIMELINE_REAL, "retrieve N (p.x) at 1500", "at \"2026-11-20T11:02:04.500Z\"");
  expect_stable(NET_TIMELINE_REAL, "set unit 1 s retrieve N (p.x) when p ; within 5 q",
                "within 5 s q");
  expect_stable(NET_TIMELINE_REAL, "set origin \"2026-01-01T00:00:00+01:00\" retrieve N (p.x)",
                "set origin \"2025-12-31T23:00:00Z\"");
  expect_stable(NET_TIMELINE_REAL, "retrieve N (p.x) where span(p) > 5 s", "span(p) > 5 s");
  expect_stable(NET_TIMELINE_ABSTRACT, "retrieve N (p.x) where p.Name = Done", "\"Done\"");
  expect_stable(NET_TIMELINE_ABSTRACT, "set unbounded allowed retrieve N (e.x) when e ; f at f",
                "set unbounded allowed");
}
END_TEST

/* ---- random statements ---- */

static const char *pick(struct base_random *random, const char *const *words, size_t count) {
  return words[base_random_below(random, count)];
}

#define PICK(RANDOM, ...)                            \
  pick((RANDOM), (const char *const[]){__VA_ARGS__}, \
       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void random_time(struct base_buffer *out, struct base_random *random, int depth) {
  if (depth <= 0 || base_random_below(random, 4) == 0) {
    base_buffer_puts(out, PICK(random, "e", "f", "p", "q", "t.start", "p.stop", "e.time", "5", "-7",
                               "forever", "now", "\"9\"", "t"));
    return;
  }
  base_buffer_putc(out, '(');
  random_time(out, random, depth - 1);
  base_buffer_puts(out, PICK(random, " ; ", " , ", " | ", " extend ", " overlap ", " ; within 3 ",
                             " precede ", " and ", " ; ", " , "));
  random_time(out, random, depth - 1);
  base_buffer_puts(out, PICK(random, ")", ").start", ").stop"));
}

static void random_value(struct base_buffer *out, struct base_random *random, int depth) {
  if (depth <= 0 || base_random_below(random, 4) == 0) {
    base_buffer_puts(
        out, PICK(random, "e.x", "p.x", "q.z", "f.x", "3", "-2", "2.5", "duration(p)", "count(p)",
                  "avgc(q)", "e.s", "Done", "avg(e.x by e.s where e.flag)"));
    return;
  }
  if (base_random_below(random, 8) == 0) {
    base_buffer_puts(out, PICK(random, "span(", "chronon_lo(", "span_hi("));
    random_time(out, random, depth - 1);
    base_buffer_putc(out, ')');
    return;
  }
  base_buffer_putc(out, '(');
  random_value(out, random, depth - 1);
  base_buffer_puts(out, PICK(random, " + ", " - ", " * ", " / ", " + ", " ** "));
  random_value(out, random, depth - 1);
  base_buffer_putc(out, ')');
}

static void random_statement(struct base_buffer *out, struct base_random *random) {
  base_buffer_puts(out, "retrieve N (v = ");
  random_value(out, random, 3);
  base_buffer_putc(out, ')');
  if (base_random_below(random, 2)) {
    base_buffer_puts(out, " where ");
    random_value(out, random, 2);
    base_buffer_puts(out, PICK(random, " = ", " > ", " + "));
    random_value(out, random, 1);
  }
  if (base_random_below(random, 2)) {
    base_buffer_puts(out, " when ");
    random_time(out, random, 3);
  }
  if (base_random_below(random, 2)) {
    base_buffer_puts(out, PICK(random, " at ", " start e stop ", " at "));
    random_time(out, random, 2);
  }
}

/* Refused with positions, or bound with all that the printer checks and a stable definition. */
static bool try_statement(enum net_timeline timeline, const char *text) {
  struct world world;
  const struct ng_query *query = NULL;
  world_init(&world, timeline, NOW);
  declare(&world);
  const struct tql_statement *statement = prepare(&world, text);
  bool bound = analyse(&world, statement, &query) == BASE_OK;
  ck_assert_msg(bound == (query != NULL) && bound == (world.diags.errors == 0), "'%s'", text);
  for (size_t i = 0; i < world.diags.count; i++)
    ck_assert_msg(world.diags.items[i].range.first_column > 0, "no position: '%s'", text);
  world_done(&world);
  if (bound && !strstr(text, "Done")) expect_stable(timeline, text, NULL);
  return bound;
}

START_TEST(random_statements) {
  struct base_random random = {20};
  size_t bound = 0, count = 6000;
  for (size_t i = 0; i < count; i++) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    random_statement(&text, &random);
    bound += try_statement(i % 2 ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT, text.data);
    base_buffer_done(&text);
  }
  ck_assert_uint_gt(bound, count / 20);
  ck_assert_uint_lt(bound, count - count / 20);
}
END_TEST

/* ---- hostile texts ---- */

START_TEST(deep_and_long_expressions) {
  struct world world;
  const struct ng_query *query;
  for (int depth = 100; depth <= 100000; depth *= 10) {
    world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
    declare(&world);
    struct base_source source = {.name = "<test>", .text = ""};
    world.source = source;
    struct tql_expr *sum = BASE_NEW(world.arena, struct tql_expr);
    sum->kind = TQL_E_INTEGER;
    for (int i = 0; i < depth; i++) {
      struct tql_expr *next = BASE_NEW(world.arena, struct tql_expr);
      next->kind = TQL_E_ADD;
      next->left = sum;
      next->right = BASE_NEW(world.arena, struct tql_expr);
      next->right->kind = TQL_E_INTEGER;
      sum = next;
    }
    struct tql_target target = {{"x", {0}}, sum};
    struct tql_statement statement = {.kind = TQL_S_RETRIEVE, .targets = {&target, 1, true, {0}}};
    enum base_status status = tql_analyse_retrieve(&world.analysis, &statement, &query);
    ck_assert(status == (depth < TQL_DEPTH_MAX ? BASE_OK : BASE_USER));
    if (status == BASE_USER) ck_assert_int_eq(world.diags.items[0].number, MSG_TOO_NESTED);
    world_done(&world);
  }
}
END_TEST

START_TEST(hostile_strings) {
  struct world world;
  const struct ng_query *query;
  world_init(&world, NET_TIMELINE_ABSTRACT, NOW);
  declare(&world);
  struct tql_expr string = {.kind = TQL_E_STRING, .name.text = "a\0b\xff", .length = 4};
  struct tql_target target = {{"x", {0}}, &string};
  struct tql_statement statement = {.kind = TQL_S_RETRIEVE, .targets = {&target, 1, true, {0}}};
  ck_assert(tql_analyse_retrieve(&world.analysis, &statement, &query) == BASE_OK);
  size_t length;
  const char *text = base_strings_text(world.strings, query->targets[0].expr->string, &length);
  ck_assert(length == 4 && !memcmp(text, "a\0b\xff", 4));
  struct tql_target stored = {{"k", {0}}, &string}; /* no UTF-8: may not be stored */
  statement = (struct tql_statement){
      .kind = TQL_S_APPEND, .name = {"S", {0}}, .targets = {&stored, 1, true, {0}}};
  ck_assert(tql_analyse_append(&world.analysis, &statement, &query) == BASE_USER);
  ck_assert_int_eq(world.diags.items[0].number, MSG_VALUE_RANGE);
  world_done(&world);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("analyse");
  TCase *cases = tcase_create("analyse");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, names_and_target_lists);
  tcase_add_test(cases, wrong_names);
  tcase_add_test(cases, relation_in_place_of_a_variable);
  tcase_add_test(cases, bare_names_that_are_domains);
  tcase_add_test(cases, arithmetic_and_types);
  tcase_add_test(cases, conditions);
  tcase_add_test(cases, wrong_types);
  tcase_add_test(cases, temporal_values);
  tcase_add_test(cases, values_from_time);
  tcase_add_test(cases, when_clauses);
  tcase_add_test(cases, constants_of_time);
  tcase_add_test(cases, wrong_times);
  tcase_add_test(cases, result_classes);
  tcase_add_test(cases, aggregates);
  tcase_add_test(cases, later_aggregates);
  tcase_add_test(cases, wrong_aggregates);
  tcase_add_test(cases, an_error_inside_an_aggregate_stays_there);
  tcase_add_test(cases, origins_and_texts);
  tcase_add_test(cases, times_and_durations_alone);
  tcase_add_test(cases, append_constants);
  tcase_add_test(cases, append_with_variables);
  tcase_add_test(cases, wrong_appends);
  tcase_add_test(cases, create_relations);
  tcase_add_test(cases, wrong_creates);
  tcase_add_test(cases, definitions);
  tcase_add_test(cases, random_statements);
  tcase_add_test(cases, deep_and_long_expressions);
  tcase_add_test(cases, hostile_strings);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
