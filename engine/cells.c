/* Cells: see cells.h. Blocks grow with the number of cells that there are, up to a limit, so that little
 * is held in vain either by few or by many.                                                         */
#include "engine/cells.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

enum { SMALLEST = 8, GROWING = 4, LARGEST = SMALLEST << GROWING };

/* A cell that is free begins with the next one. */
union free_cell {
  void *next;
};

void net_cells_init(struct net_cells *cells, size_t size) {
  size_t alignment = sizeof(void *);
  memset(cells, 0, sizeof *cells);
  cells->size = (size + alignment - 1) / alignment * alignment;
  if (cells->size < sizeof(union free_cell)) cells->size = alignment;
}

void net_cells_done(struct net_cells *cells) {
  for (size_t i = 0; i < cells->block_count; i++) free(cells->blocks[i]);
  free(cells->blocks);
  net_cells_init(cells, cells->size);
}

static size_t cells_in_block(size_t index) {
  return index < GROWING ? (size_t)SMALLEST << index : LARGEST;
}

void *net_cells_take(struct net_cells *cells) {
  void *cell = cells->free_list;
  if (cell != NULL) {
    cells->free_list = ((union free_cell *)cell)->next;
  } else {
    if (cells->left == 0) {
      cells->left = cells_in_block(cells->block_count);
      base_grow(&cells->blocks, &cells->block_capacity, cells->block_count + 1,
                sizeof *cells->blocks);
      cells->blocks[cells->block_count++] = base_xcalloc(cells->left, cells->size);
    }
    cell = (char *)cells->blocks[cells->block_count - 1] + --cells->left * cells->size;
  }
  return memset(cell, 0, cells->size);
}

void net_cells_give(struct net_cells *cells, void *cell) {
  ((union free_cell *)cell)->next = cells->free_list;
  cells->free_list = cell;
}

size_t net_cells_bytes(const struct net_cells *cells) {
  size_t count = 0;
  for (size_t i = 0; i < cells->block_count && i < GROWING; i++) count += cells_in_block(i);
  if (cells->block_count > GROWING) count += (cells->block_count - GROWING) * LARGEST;
  return count * cells->size + cells->block_capacity * sizeof *cells->blocks;
}
