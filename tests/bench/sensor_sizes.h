/* What sensors take of a program's memory: thesis table 8-1 ("size"), 8.3.2 and appendix D. */
#ifndef SENSOR_SIZES_H
#define SENSOR_SIZES_H

/* Prints it. */
void print_sensor_sizes(void);

#endif
