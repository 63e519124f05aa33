/* Cells: pieces of memory of one size that come and go, for nodes that keep things which others point
 * to. What is given back is taken again, so that nothing is allocated while as many live as did before;
 * memory goes when all cells go.                                                                    */
#ifndef NET_CELLS_H
#define NET_CELLS_H

#include <stddef.h>

struct net_cells {
  size_t size; /* of a cell */
  void *free_list;
  void **blocks;
  size_t block_count, block_capacity;
  size_t left; /* of the last block, not taken yet */
};

/* SIZE is rounded up to that of a pointer, which is what cells are aligned to. */
void net_cells_init(struct net_cells *cells, size_t size);
void net_cells_done(struct net_cells *cells);
/* A zeroed cell. */
void *net_cells_take(struct net_cells *cells);
void net_cells_give(struct net_cells *cells, void *cell);
size_t net_cells_bytes(const struct net_cells *cells); /* memory held */

#endif
