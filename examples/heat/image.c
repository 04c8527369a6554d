/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: a field from a PNG picture and back, through libpng. Reading: brightness is temperature,
 * pure red is a heater, pure blue a cooler. Writing: black for cold over violet, red and orange to white
 * for hot. */
#include "heat.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

bool field_create(struct field *field, int width, int height)
{
    const size_t cells = (size_t)width * (size_t)height;

    *field = (struct field){ width, height, malloc(cells * sizeof *field->cells), malloc(cells) };
    if (field->cells && field->is_held)
        return true;
    fprintf(stderr, "heat: no memory for a field of %d x %d cells\n", width, height);
    field_free(field);
    return false;
}

void field_free(struct field *field)
{
    free(field->cells);
    free(field->is_held);
    *field = (struct field){ 0 };
}

static void set_cell(struct field *field, size_t cell, const png_byte *rgb)
{
    const bool is_heater = rgb[0] == 255 && rgb[1] == 0 && rgb[2] == 0;
    const bool is_cooler = rgb[0] == 0 && rgb[1] == 0 && rgb[2] == 255;

    field->is_held[cell] = is_heater || is_cooler;
    field->cells[cell] = is_heater   ? 1
                         : is_cooler ? 0
                                     : (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
}

/* The picture's pixels as 3 bytes each, to be freed; NULL after a message. */
static png_byte *load_pixels(const char *path, png_image *image)
{
    png_byte *pixels = NULL;

    *image = (png_image){ .version = PNG_IMAGE_VERSION };
    if (!png_image_begin_read_from_file(image, path)) {
        fprintf(stderr, "heat: cannot read %s: %s\n", path, image->message);
        return NULL;
    }
    image->format = PNG_FORMAT_RGB;
    pixels = malloc(PNG_IMAGE_SIZE(*image));
    if (!pixels)
        fprintf(stderr, "heat: no memory for the picture %s\n", path);
    else if (png_image_finish_read(image, &(png_color){ 0, 0, 0 }, pixels, 0, NULL))
        return pixels;
    else
        fprintf(stderr, "heat: cannot read %s: %s\n", path, image->message);
    png_image_free(image);
    free(pixels);
    return NULL;
}

bool image_read(const char *path, double scale, struct field *field)
{
    png_image image;
    png_byte *pixels = load_pixels(path, &image);
    double width, height;

    if (!pixels)
        return false;
    width = fmax(1, round(image.width * scale));
    height = fmax(1, round(image.height * scale));
    if (width * height > 1e9 || !field_create(field, (int)width, (int)height)) {
        fprintf(stderr, "heat: %s at scale %g is too large\n", path, scale);
        free(pixels);
        return false;
    }
    for (int y = 0; y < field->height; y++) {
        const size_t row = (size_t)y * image.height / (size_t)field->height;

        for (int x = 0; x < field->width; x++) {
            const size_t column = (size_t)x * image.width / (size_t)field->width;

            set_cell(field, (size_t)y * (size_t)field->width + (size_t)x,
                     pixels + 3 * (row * image.width + column));
        }
    }
    free(pixels);
    return true;
}

/* Colour of a temperature: straight lines between a few colours. */
static void colour(double heat, png_byte *rgb)
{
    static const unsigned char stops[][3] = { { 4, 2, 20 },     { 60, 12, 110 },  { 150, 30, 110 },
                                              { 220, 60, 50 },  { 250, 140, 20 }, { 252, 220, 90 },
                                              { 255, 255, 235 } };
    const int last = (int)(sizeof stops / sizeof *stops) - 1;
    const double at = fmin(fmax(heat, 0), 1) * last;
    const int stop = at >= last ? last - 1 : (int)at;

    for (int i = 0; i < 3; i++)
        rgb[i] = (png_byte)(stops[stop][i] + (at - stop) * (stops[stop + 1][i] - stops[stop][i]) + 0.5);
}

bool image_write(const char *path, const struct field *field)
{
    const size_t cells = (size_t)field->width * (size_t)field->height;
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)field->width,
                        .height = (png_uint_32)field->height,
                        .format = PNG_FORMAT_RGB };
    png_byte *pixels = malloc(3 * cells);
    int is_written;

    if (!pixels) {
        fprintf(stderr, "heat: no memory for the picture %s\n", path);
        return false;
    }
    for (size_t i = 0; i < cells; i++)
        colour(field->cells[i], pixels + 3 * i);
    is_written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
    if (!is_written)
        fprintf(stderr, "heat: cannot write %s: %s\n", path, image.message);
    free(pixels);
    return is_written;
}
