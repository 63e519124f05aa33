/* Sensors: who makes the records of announced relations, and what he is told. See session.h. */
#include "tquel/session/session_impl.h"

void tql_session_on_watch(struct tql_session *session, struct net_sensor *sensor) {
  (void)session, (void)sensor;
}

void tql_session_each_watch(const struct tql_session *session,
                            void (*each)(void *context, const struct net_watch *watch,
                                         size_t holders),
                            void *context) {
  (void)session, (void)each, (void)context;
}

void tql_session_describe_sensors(struct tql_session *session,
                                  const struct tql_sensor_report *reports, size_t report_count,
                                  struct base_buffer *out) {
  (void)session, (void)reports, (void)report_count;
  base_buffer_puts(out, "no sensors\n");
}
