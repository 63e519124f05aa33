/* The sweep of a product: rows of both sides in temporal order, each combined with the live rows of the
 * other side that have the same key. See product.c.                                                  */
#include "engine/base/env.h"
#include "engine/nodes/product.h"

static bool keys_equal(const struct net_product *product, const union net_slot *left,
                       const union net_slot *right) {
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &product->params.keys[i];
    if (left[key->left_slot].i != right[key->right_slot].i) return false;
  }
  return true;
}

/* LEFT and RIGHT, both plain, have in common what begins at NOW and ends at STOP. */
static void fill_plain(const struct net_product *product, const union net_slot *left,
                       const union net_slot *right, net_chronon now, net_chronon stop,
                       union net_slot *ret) {
  ret[0].i = ret[1].i = now;
  if (product->node.layout->tuple_class == NET_PERIOD) ret[2].i = ret[3].i = stop;
  for (size_t i = 0; i < product->copy_count; i++) {
    const struct net_product_copy *copy = &product->copies[i];
    const union net_slot *from = (copy->side == 0 ? left : right) + copy->from;
    for (uint32_t k = 0; k < copy->count; k++) ret[copy->to + k] = from[k];
  }
}

static void meet_plain(struct net_product *product, const union net_slot *left,
                       const union net_slot *right, uint8_t marks, net_chronon now,
                       net_chronon stop, enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  if (predicate == NULL) {
    net_chronon bound = product->node.checkpoint;
    fill_plain(product, left, right, now, stop,
               marks == NET_DEFINITE ? net_out_plain(&product->node, bound, status)
                                     : net_out_row(&product->node, marks, 0, bound, status));
    return;
  }
  struct net_value value;
  fill_plain(product, left, right, now, stop, product->scratch);
  enum net_eval_error error = net_program_run(predicate, product->scratch, now, &value);
  if (error != NET_EVAL_OK)
    *status = net_node_error(&product->node, error, product->node.layout, product->scratch);
  else if (value.truth == NET_TRUE && marks == NET_DEFINITE)
    net_row_copy(net_out_plain(&product->node, product->node.checkpoint, status), product->scratch,
                 product->node.layout->slot_count);
  else if (value.truth != NET_FALSE)
    net_product_put(product, value.truth == NET_TRUE ? marks : 0, 0, product->node.checkpoint,
                    status);
}

/* A row that starts NOW, with its marks and its id. */
static void arrive(struct net_product *product, unsigned which, const union net_slot *row,
                   net_chronon now, uint8_t row_marks, uint64_t id, enum base_status *status) {
  struct net_product_side *other = &product->sides[1 - which];
  uint64_t hash = net_product_hash(product, which, row);
  uint32_t index = net_product_add(product, which, row, row_marks, id, hash);
  const struct net_live *live = &product->sides[which].lives[index];
  bool open = live->open;
  /* Members of a combination made by the full rule may lie apart: then it expires before it begins. */
  bool full = product->params.rule == NET_PRODUCT_FULL;
  bool plain = live->plain && (full || live->expires > now);
  net_chronon expires = live->expires;
  uint32_t bucket = (uint32_t)(hash & (other->bucket_count - 1));
  for (uint32_t i = other->buckets[bucket]; i != NET_NO_LIVE && *status == BASE_OK;) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    uint32_t next = other->lives[i].next;
    if (net_product_is_over(&other->lives[i], now)) {
      net_product_expire(other, i);
      i = next;
      continue;
    }
    const union net_slot *its = net_product_row(other, i);
    const union net_slot *left = which == 0 ? row : its, *right = which == 0 ? its : row;
    if (keys_equal(product, left, right)) {
      if (plain && other->lives[i].plain) {
        net_chronon stop = other->lives[i].expires < expires ? other->lives[i].expires : expires;
        meet_plain(product, left, right, row_marks & other->lives[i].marks & NET_DEFINITE, now,
                   stop, status);
      } else if (open || other->lives[i].open) {
        net_product_add_pair(product, which == 0 ? index : i, which == 0 ? i : index);
      } else {
        net_product_combine(product, left, right, false, now);
        enum net_truth truth = net_product_judge(product, left, right, now, status).truth;
        uint8_t both = row_marks & other->lives[i].marks & NET_DEFINITE;
        if (truth != NET_FALSE)
          net_product_put(product, truth == NET_TRUE ? both : 0, 0, product->node.checkpoint,
                          status);
      }
    }
    i = next;
  }
}

static void sweep(struct net_product *product, enum base_status *status) {
  struct net_inbox_item item;
  const union net_slot *row;
  unsigned which;
  while (*status == BASE_OK && (row = net_inbox_next(&product->inbox, &item, &which)) != NULL) {
    if (item.marks & NET_CLOSES) {
      net_product_close(product, which, row, item.id);
    } else {
      arrive(product, which, row, item.time, item.marks, item.id, status);
    }
  }
}

static bool has_others(const struct net_inbox *inbox) {
  return inbox->ports[0].others.count > 0 || inbox->ports[1].others.count > 0;
}

/* The same where only starts wait: a merge of two queues. */
static void sweep_starts(struct net_product *product, net_chronon checkpoint,
                         enum base_status *status) {
  struct net_inbox_port *ports = product->inbox.ports;
  while (*status == BASE_OK) {
    unsigned which = 2;
    net_chronon now = NET_FOREVER;
    for (unsigned i = 0; i < 2; i++) {
      const struct net_inbox_queue *queue = &ports[i].starts;
      if (queue->head == queue->count) continue;
      net_chronon time = net_inbox_row(&ports[i], queue, queue->head)[0].i;
      if (which < 2 && time >= now) continue;
      which = i;
      now = time;
    }
    if (which == 2 || (now >= checkpoint && checkpoint != NET_FOREVER)) return;
    struct net_inbox_queue *queue = &ports[which].starts;
    size_t index = queue->head++;
    arrive(product, which, net_inbox_row(&ports[which], queue, index), now, queue->marks[index],
           queue->has_ids ? queue->ids[index] : 0, status);
  }
}

void net_product_sweep(struct net_product *product, net_chronon checkpoint,
                       enum base_status *status) {
  net_inbox_sort(&product->inbox);
  if (has_others(&product->inbox)) {
    sweep(product, status);
  } else {
    sweep_starts(product, checkpoint, status);
  }
  net_inbox_tidy(&product->inbox);
}
