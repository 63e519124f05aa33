#include "engine/store.h"

enum base_status net_store_each_batch(struct net_store *store, const struct net_scan *scan,
                                      net_batch_fn each, void *context) {
  struct net_source *source = NULL;
  struct net_batch batch;
  enum base_status status = store->class->scan(store, scan, &source);
  while (status == BASE_OK && (status = source->next(source, &batch)) == BASE_OK)
    status = each(context, &batch);
  if (source != NULL) source->free(source);
  return status == BASE_END ? BASE_OK : status;
}
