/* What the server asks of the keeper: a message of this form, with a descriptor beside it. */
#ifndef TQL_SERVE_REQUEST_H
#define TQL_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The user's name stands behind it. */
struct server_request {
  uint64_t statement, results, memory;
  int64_t start, now;
  bool owner;
  bool brings_in; /* no statement: the write-ahead log is to be brought into the file */
};
#define SERVER_REQUEST_USER ((size_t)4096)

/* The descriptor. */
union server_request_control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/* In the environment of a program that is started as a keeper: the server's process. */
#define SERVER_KEEPER_OF     "TQUEL_KEEPER_OF"
#define SERVER_KEEPER_SOCKET 3

#endif
